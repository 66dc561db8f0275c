import { nearest } from './nearest.js';
import { type List, type Node, type Section } from './schema-nodes.js';

/** Higher ranks win, key by key. */
export const ranks = { file: 0, env: 1, flag: 2 } as const;

/** A value as one layer has it, not yet parsed. */
export interface Entry {
  readonly raw: unknown;
  /** Where it stands, as in `config.yaml line 3`. */
  readonly origin: string;
  readonly rank: number;
}

/** Entries of leaves and lists, by dotted path. */
export type Layer = Map<string, Entry>;

/** A secret `x` may be given as `xFile` instead. */
export const fileKeySuffix = 'File';

export type Path = readonly string[];

/** Cuts a nested value into the leaves and lists of the schema; what doesn't fit becomes a problem. */
export function flatten(
  node: Node,
  raw: unknown,
  path: Path,
  rank: number,
  originOf: (path: Path) => string,
  into: Layer,
  problems: string[],
): void {
  if (raw === undefined || raw === null) return;
  if (node.kind === 'leaf' || node.kind === 'list') {
    into.set(path.join('.'), { raw, origin: originOf(path), rank });
    return;
  }
  if (typeof raw !== 'object' || Array.isArray(raw)) {
    const what = node.kind === 'named' ? 'names with keys below them' : 'keys below it';
    const subject = path.length === 0 ? 'the configuration' : path.join('.');
    problems.push(`${subject} (${originOf(path)}) must have ${what}.`);
    return;
  }
  for (const [key, value] of Object.entries(raw)) {
    const child = node.kind === 'named' ? namedChild(node.of, key) : childOf(node, key);
    const childPath = [...path, key];
    if (child === undefined) {
      problems.push(
        node.kind === 'named'
          ? badName(childPath, originOf(childPath))
          : unknownKey(node, childPath, originOf(childPath)),
      );
    } else {
      flatten(child, value, childPath, rank, originOf, into, problems);
    }
  }
}

export function unknownKey(parent: Section, path: Path, origin: string): string {
  const key = path.at(-1) ?? '';
  const hint = nearest(key, keyNames(parent));
  const didYouMean = hint === undefined ? '' : ` Did you mean ${[...path.slice(0, -1), hint].join('.')}?`;
  return `${path.join('.')} (${origin}) is not a key of the configuration.${didYouMean}`;
}

export function childOf(node: Section, key: string): Node | undefined {
  if (Object.hasOwn(node.keys, key)) return node.keys[key];
  if (!key.endsWith(fileKeySuffix)) return undefined;
  const base = node.keys[key.slice(0, -fileKeySuffix.length)];
  return base?.kind === 'leaf' && base.isSecret ? secretFileLeaf(key) : undefined;
}

export function badName(path: Path, origin: string): string {
  return `${path.join('.')} (${origin}) is no name that an entry may have: it must match [a-z][a-z0-9-]*.`;
}

export function isName(name: string): boolean {
  return /^[a-z][a-z0-9-]*$/.test(name);
}

function namedChild(of: Section, name: string): Node | undefined {
  return isName(name) ? of : undefined;
}

function keyNames(node: Section): string[] {
  return Object.entries(node.keys).flatMap(([key, child]) =>
    child.kind === 'leaf' && child.isSecret ? [key, key + fileKeySuffix] : [key],
  );
}

function secretFileLeaf(key: string): Node {
  return {
    kind: 'leaf',
    type: 'path',
    doc: `File that holds ${key.slice(0, -fileKeySuffix.length)}.`,
    suffix: '',
    isSecret: false,
    isRequired: false,
    isBoolean: false,
    defaultText: undefined,
    parse: (raw) => raw,
  };
}

export interface FixedKey {
  readonly path: Path;
  readonly node: Exclude<Node, Section>;
}

/** Every key whose path doesn't depend on names of the user, in the order of the schema. */
export function fixedKeys(node: Section, path: Path = []): FixedKey[] {
  return Object.entries(node.keys).flatMap(([key, child]): FixedKey[] => {
    const childPath = [...path, key];
    return child.kind === 'section' ? fixedKeys(child, childPath) : [{ path: childPath, node: child }];
  });
}

export function isListOfSections(node: Node): node is List<Section> {
  return node.kind === 'list' && node.of.kind === 'section';
}
