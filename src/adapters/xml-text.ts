/** The text of the first element of that name, where there is a whole one: for answers of a few elements. */
export function elementOf(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}>`);
  if (start < 0) return undefined;
  const from = start + name.length + 2;
  const end = xml.indexOf(`</${name}>`, from);
  return end < 0 ? undefined : unescapeXml(xml.slice(from, end));
}

const entities: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: '<', gt: '>', amp: '&' };

function unescapeXml(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name = '') => {
      if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      return entities[String(name)] ?? whole;
    },
  );
}

/** The five marks, and control characters, which XML can't hold as they are. */
export function escapeXml(text: string): string {
  // An ETag, mostly.
  if (/^"?[\w-]*"?$/.test(text)) return text.replaceAll('"', '&#34;');
  // eslint-disable-next-line no-control-regex -- those are meant
  return text.replace(/[&<>"'\u0000-\u001f\u007f]/g, (char) => `&#${char.charCodeAt(0)};`);
}
