import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import {
  badName,
  childOf,
  fileKeySuffix,
  fixedKeys,
  flatten,
  isListOfSections,
  isName,
  type Layer,
  type Path,
  ranks,
  unknownKey,
} from './entries.js';
import { nearest } from './nearest.js';
import { schema } from './schema.js';
import type { Node, Section } from './schema-nodes.js';

export const envPrefix = 'COMMITBRIDGE_';

/** Path of the file itself, and variables that tests use: not keys of the schema. */
const otherVariables = new Set([`${envPrefix}CONFIG`]);
/** Kubernetes sets these in every pod of a namespace that has a Service called `commitbridge`. */
const serviceLinks = /^COMMITBRIDGE_(SERVICE_HOST|SERVICE_PORT\w*|PORT|PORT_\d+\w*)$/;

export function fileLayer(text: string, fileName: string, problems: string[]): Layer {
  const layer: Layer = new Map();
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0) {
    for (const error of document.errors) {
      const line = error.linePos?.[0].line ?? 1;
      problems.push(`${fileName} line ${line} is no valid YAML: ${error.message.split('\n')[0] ?? ''}`);
    }
    return layer;
  }
  const originOf = (path: Path): string => {
    let node: unknown = document.contents;
    let offset = 0;
    for (const key of path) {
      const pair = isMap(node)
        ? node.items.find((item) => String(isScalar(item.key) ? item.key.value : item.key) === key)
        : undefined;
      if (pair === undefined) break;
      offset = (isScalar(pair.key) ? pair.key.range?.[0] : undefined) ?? offset;
      node = pair.value;
    }
    return `${fileName} line ${lines.linePos(offset).line}`;
  };
  flatten(schema, document.toJS(), [], ranks.file, originOf, layer, problems);
  return layer;
}

/** `limits.maxMessage` → `COMMITBRIDGE_LIMITS_MAX_MESSAGE`. */
export function envName(path: Path): string {
  return envPrefix + path.map(upperSnake).join('_');
}

export function envLayer(
  env: Readonly<Record<string, string | undefined>>,
  knownStores: Iterable<string>,
  problems: string[],
): Layer {
  const layer: Layer = new Map();
  const fixed = new Map(fixedKeys(schema).map((key) => [envName(key.path), key]));
  const stores = [...knownStores];
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(envPrefix) || text === undefined) continue;
    if (otherVariables.has(name) || name.startsWith(`${envPrefix}TEST_`) || serviceLinks.test(name)) continue;
    const key = fixed.get(name) ?? storeKey(name, stores);
    if (key === undefined) {
      const hint = nearest(name, fixed.keys());
      const didYouMean = hint === undefined ? '' : ` Did you mean ${hint}?`;
      problems.push(`The environment variable ${name} names no key of the configuration.${didYouMean}`);
    } else {
      putText(key.node, key.path, text, ranks.env, `env ${name}`, layer, problems);
    }
  }
  return layer;
}

/** One value from the command line, as `--log-level debug` or `--set stores.main.region=eu-west-1`. */
export function flagEntry(path: Path, text: string, origin: string, layer: Layer, problems: string[]): void {
  const node = nodeAt(schema, path, 0, origin, problems);
  if (node !== undefined) putText(node, path, text, ranks.flag, origin, layer, problems);
}

function nodeAt(node: Node, path: Path, depth: number, origin: string, problems: string[]): Node | undefined {
  const key = path[depth];
  if (key === undefined) return node;
  const known = path.slice(0, depth + 1);
  if (node.kind === 'named') {
    if (isName(key)) return nodeAt(node.of, path, depth + 1, origin, problems);
    problems.push(badName(known, origin));
    return undefined;
  }
  const child = node.kind === 'section' ? childOf(node, key) : undefined;
  if (child !== undefined) return nodeAt(child, path, depth + 1, origin, problems);
  problems.push(
    node.kind === 'section'
      ? unknownKey(node, known, origin)
      : `${known.join('.')} (${origin}) is not a key of the configuration.`,
  );
  return undefined;
}

function putText(
  node: Node,
  path: Path,
  text: string,
  rank: number,
  origin: string,
  layer: Layer,
  problems: string[],
): void {
  let raw: unknown = text;
  const isList = node.kind === 'list' && !isListOfSections(node);
  // A list in YAML; an IPv6 address begins with a bracket too.
  const isYaml = /^\s*\[.*\]\s*$/s.test(text);
  if (isList && !isYaml) {
    raw = text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  } else if (node.kind !== 'leaf') {
    const document = parseDocument(text);
    if (document.errors.length > 0) {
      problems.push(`${path.join('.')} (${origin}) is no valid YAML.`);
      return;
    }
    raw = document.toJS();
  }
  flatten(node, raw, path, rank, () => origin, layer, problems);
}

/** `COMMITBRIDGE_STORES_MAIN_REGION` → `stores.main.region`; `_` in a name stands for `-`. */
function storeKey(name: string, knownStores: readonly string[]): { path: Path; node: Node } | undefined {
  const prefix = `${envName(['stores'])}_`;
  if (!name.startsWith(prefix)) return undefined;
  const rest = name.slice(prefix.length);
  let best: { path: Path; node: Node } | undefined;
  for (const { path, node } of leafPaths(schema.keys.stores.of)) {
    const suffix = `_${path.map(upperSnake).join('_')}`;
    if (!rest.endsWith(suffix) || rest.length === suffix.length) continue;
    const spelled = rest.slice(0, -suffix.length);
    const known = knownStores.find((store) => upperSnake(store) === spelled);
    const candidate = {
      path: ['stores', known ?? spelled.toLowerCase().replaceAll('_', '-'), ...path],
      node,
    };
    if (best === undefined || known !== undefined || candidate.path.length > best.path.length)
      best = candidate;
    if (known !== undefined) break;
  }
  return best;
}

function leafPaths(section: Section): { path: Path; node: Node }[] {
  return fixedKeys(section).flatMap(({ path, node }) => {
    const own = { path, node };
    if (node.kind !== 'leaf' || !node.isSecret) return [own];
    const filePath = [...path.slice(0, -1), `${path.at(-1) ?? ''}${fileKeySuffix}`];
    return [own, { path: filePath, node: { ...node, isSecret: false } }];
  });
}

function upperSnake(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toUpperCase();
}
