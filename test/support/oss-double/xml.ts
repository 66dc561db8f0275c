import { malformedXml } from './oss-error.js';

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Text or children; `undefined` leaves the element out. */
export type XmlContent = string | number | boolean | undefined | readonly XmlElement[];
export type XmlElement = readonly [name: string, content: XmlContent];

export function xmlDocument(root: string, children: readonly XmlElement[]): string {
  return declaration + element([root, children]);
}

function element([name, content]: XmlElement): string {
  if (content === undefined) return '';
  const inner = typeof content === 'object' ? content.map(element).join('') : escapeXml(String(content));
  return `<${name}>${inner}</${name}>`;
}

function escapeXml(text: string): string {
  // eslint-disable-next-line no-control-regex -- OSS writes them as references, which XML 1.0 parsers refuse
  return text.replace(/[&<>"\u0000-\u0008\u000b-\u001f]/g, (char) => {
    switch (char) {
      case '&':
        return '&amp;';
      case '<':
        return '&lt;';
      case '>':
        return '&gt;';
      case '"':
        return '&quot;';
      default:
        return `&#${char.charCodeAt(0)};`;
    }
  });
}

export interface XmlNode {
  name: string;
  /** Of an element without children. */
  text: string;
  children: XmlNode[];
}

const token = /<\?[^>]*\?>|<!--[\s\S]*?-->|<\/([^\s>]+)\s*>|<([^\s/>!?]+)([^>]*?)(\/?)>|([^<]+)/gy;

/** Reads a request body; anything that isn't elements and text is a MalformedXML. */
export function parseXml(body: Buffer): XmlNode {
  const source = body.toString('utf8').replace(/^\uFEFF/, '');
  const root: XmlNode = { name: '', text: '', children: [] };
  const open: XmlNode[] = [root];
  token.lastIndex = 0;
  while (token.lastIndex < source.length) {
    const match = token.exec(source);
    if (match === null) throw malformedXml();
    const [, closed, opened, , selfClosing, text] = match;
    const parent = open.at(-1)!;
    if (text !== undefined) parent.text += unescapeXml(text);
    else if (opened !== undefined) {
      const node: XmlNode = { name: opened, text: '', children: [] };
      parent.children.push(node);
      if (selfClosing === '') open.push(node);
    } else if (closed !== undefined) {
      if (parent.name !== closed || open.length === 1) throw malformedXml();
      open.pop();
    }
  }
  const [only, ...others] = root.children;
  if (open.length !== 1 || only === undefined || others.length > 0 || root.text.trim() !== '') {
    throw malformedXml();
  }
  return only;
}

export function childText(node: XmlNode, name: string): string | undefined {
  return node.children.find((child) => child.name === name)?.text;
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (_whole, name: string) => {
    const entity = entities[name];
    if (entity !== undefined) return entity;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    if (!name.startsWith('#') || !(code <= 0x10ffff)) throw malformedXml();
    return String.fromCodePoint(code);
  });
}
