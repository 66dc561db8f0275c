import { type Entry, fileKeySuffix, flatten, isListOfSections, type Layer, type Path } from './entries.js';
import { schema, type SchemaValues } from './schema.js';
import { BadValue, type Leaf, type List, type Node, type Section, show } from './schema-nodes.js';

/** What one key came to, for `--print-config`. */
export interface Effective {
  readonly path: string;
  /** As somebody would write it; `***` for a secret. */
  readonly shown: unknown;
  readonly origin: string;
}

export interface Resolved {
  readonly values: SchemaValues;
  readonly effective: readonly Effective[];
}

type ReadFile = (path: string) => string;

/** Merges the layers key by key and parses every value. */
export function resolve(layers: readonly Layer[], readFile: ReadFile, problems: string[]): Resolved {
  const merged: Layer = new Map(
    layers.flatMap((layer) => [...layer]).sort(([, a], [, b]) => a.rank - b.rank),
  );
  const effective: Effective[] = [];
  const build = new Builder(merged, readFile, effective, problems);
  return { values: build.node(schema, []) as SchemaValues, effective };
}

/** Names that the layers use below a key of user-chosen names. */
export function namesIn(layers: readonly Layer[], key: string): string[] {
  const names = new Set<string>();
  for (const layer of layers) {
    for (const path of layer.keys()) {
      const [first, second] = path.split('.');
      if (first === key && second !== undefined) names.add(second);
    }
  }
  return [...names];
}

class Builder {
  constructor(
    private readonly entries: Layer,
    private readonly readFile: ReadFile,
    private readonly effective: Effective[],
    private readonly problems: string[],
  ) {}

  node(node: Node, path: Path): unknown {
    switch (node.kind) {
      case 'leaf':
        return this.leaf(node, path);
      case 'list':
        return this.list(node, path);
      case 'section':
        return this.section(node, path);
      case 'named': {
        const names = namesIn([this.entries], path.join('.'));
        return Object.fromEntries(names.map((name) => [name, this.section(node.of, [...path, name])]));
      }
    }
  }

  private section(node: Section, path: Path): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(node.keys).map(([key, child]) => [
        child.kind === 'leaf' ? key + child.suffix : key,
        this.node(child, [...path, key]),
      ]),
    );
  }

  private leaf(node: Leaf<unknown, string>, path: Path): unknown {
    const entry = node.isSecret ? this.secretEntry(path) : this.entries.get(path.join('.'));
    if (entry === undefined) {
      if (node.isRequired) {
        this.problems.push(`${path.join('.')} is missing: ${lowerFirst(node.doc)}`);
        return undefined;
      }
      if (node.defaultText === undefined) return undefined;
      this.effective.push({ path: path.join('.'), shown: plain(node.defaultText), origin: 'default' });
      return node.parse(node.defaultText);
    }
    this.effective.push({
      path: path.join('.'),
      shown: node.isSecret ? '***' : typeof entry.raw === 'string' ? plain(entry.raw) : entry.raw,
      origin: entry.origin,
    });
    return this.parse(node, path.join('.'), entry);
  }

  private list(node: List, path: Path): readonly unknown[] {
    const name = path.join('.');
    const entry = this.entries.get(name) ?? { raw: node.defaultText, origin: 'default', rank: -1 };
    if (!Array.isArray(entry.raw)) {
      this.problems.push(`${name} (${entry.origin}) must be a list, not ${show(entry.raw)}.`);
      return [];
    }
    const items: readonly unknown[] = entry.raw;
    if (!isListOfSections(node)) {
      this.effective.push({ path: name, shown: items, origin: entry.origin });
      const of = node.of as Leaf<unknown>;
      return items.map((raw, i) => this.parse(of, `${name}[${i}]`, { ...entry, raw }));
    }
    return items.map((raw, i) => {
      const itemPath = [...path.slice(0, -1), `${path.at(-1) ?? ''}[${i}]`];
      const item: Layer = new Map();
      if (raw === null) this.problems.push(`${name}[${i}] (${entry.origin}) is empty.`);
      flatten(node.of, raw, itemPath, entry.rank, () => entry.origin, item, this.problems);
      return new Builder(item, this.readFile, this.effective, this.problems).section(node.of, itemPath);
    });
  }

  /** `x`, or the content of the file that `xFile` names; the higher layer's where both are there. */
  private secretEntry(path: Path): Entry | undefined {
    const name = path.join('.');
    const value = this.entries.get(name);
    const file = this.entries.get(name + fileKeySuffix);
    if (file === undefined || (value !== undefined && value.rank > file.rank)) return value;
    if (value?.rank === file.rank) {
      this.problems.push(
        `${name} (${value.origin}) and ${name}${fileKeySuffix} (${file.origin}) exclude each other.`,
      );
      return undefined;
    }
    if (typeof file.raw !== 'string') {
      this.problems.push(`${name}${fileKeySuffix} (${file.origin}) must be a path, not ${show(file.raw)}.`);
      return undefined;
    }
    try {
      return {
        ...file,
        raw: this.readFile(file.raw).replace(/\r?\n$/, ''),
        origin: `${file.origin}, ${file.raw}`,
      };
    } catch (error) {
      this.problems.push(
        `${name}${fileKeySuffix} (${file.origin}) names a file that can't be read: ${(error as Error).message}.`,
      );
      return undefined;
    }
  }

  private parse(node: Leaf<unknown, string>, name: string, entry: Entry): unknown {
    try {
      return node.parse(entry.raw);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      this.problems.push(`${name} (${entry.origin}) ${error.message}.`);
      return undefined;
    }
  }
}

/** Numbers and booleans without quotes. */
function plain(text: string): unknown {
  return /^(\d+|true|false)$/.test(text) ? (JSON.parse(text) as unknown) : text;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
