import { Secret } from './secret.js';
import { parseDurationMs, parseSizeBytes } from './units.js';

/**
 * The pieces that the schema is made of. A leaf knows how to read its value from YAML and from the text of an
 * environment variable or flag; its `doc` is the text in docs/configuration.md and in `--help`.
 */
export interface Leaf<T, Suffix extends string = ''> {
  readonly kind: 'leaf';
  readonly type: string;
  readonly doc: string;
  /** Appended to the key's name in the resulting object, so that code sees the unit. */
  readonly suffix: Suffix;
  readonly isSecret: boolean;
  readonly isRequired: boolean;
  readonly isBoolean: boolean;
  /** As somebody would write it. */
  readonly defaultText: string | undefined;
  /** Throws {@link BadValue}. */
  readonly parse: (raw: unknown) => Exclude<T, undefined>;
}

export interface Section<K extends SectionKeys = SectionKeys> {
  readonly kind: 'section';
  readonly doc: string;
  readonly keys: K;
}

/** Sections under names that the user chooses. */
export interface NamedSections<K extends SectionKeys = SectionKeys> {
  readonly kind: 'named';
  readonly doc: string;
  readonly placeholder: string;
  readonly of: Section<K>;
}

/** One value for merging: a layer that has it replaces it whole. */
export interface List<N extends Leaf<unknown> | Section = Leaf<unknown> | Section> {
  readonly kind: 'list';
  readonly doc: string;
  readonly of: N;
  readonly defaultText: readonly string[];
}

export type Node = Leaf<unknown, string> | Section | NamedSections | List;
export type SectionKeys = Readonly<Record<string, Node>>;

export type Infer<N> =
  N extends Leaf<infer T, string>
    ? T
    : N extends Section<infer K>
      ? {
          readonly [P in keyof K as K[P] extends Leaf<unknown, infer S> ? `${P & string}${S}` : P]: Infer<
            K[P]
          >;
        }
      : N extends NamedSections<infer K>
        ? Readonly<Record<string, Infer<Section<K>>>>
        : N extends List<infer E>
          ? readonly Infer<E>[]
          : never;

/** The end of a sentence that begins with the key: `must be …`. */
export class BadValue extends Error {}

function leaf<T, S extends string = ''>(
  type: string,
  doc: string,
  parse: (raw: unknown) => T,
  suffix: S,
  isBoolean = false,
): Leaf<T | undefined, S> {
  return {
    kind: 'leaf',
    type,
    doc,
    suffix,
    isSecret: false,
    isRequired: false,
    isBoolean,
    defaultText: undefined,
    parse: parse as Leaf<T | undefined, S>['parse'],
  };
}

export function text(doc: string): Leaf<string | undefined> {
  return leaf(
    'text',
    doc,
    (raw) => {
      if (typeof raw !== 'string' || raw === '') throw new BadValue(`must be a text, not ${show(raw)}`);
      return raw;
    },
    '',
  );
}

/** Also takes its value from a file, by the key with `File` appended. */
export function secret(doc: string): Leaf<Secret | undefined> {
  const base = leaf(
    'secret text',
    doc,
    (raw) => {
      if (typeof raw !== 'string' || raw === '') throw new BadValue('must be a text that is not empty');
      return new Secret(raw);
    },
    '',
  );
  return { ...base, isSecret: true };
}

export function flag(doc: string): Leaf<boolean | undefined> {
  return leaf(
    'true or false',
    doc,
    (raw) => {
      if (raw === true || raw === 'true') return true;
      if (raw === false || raw === 'false') return false;
      throw new BadValue(`must be true or false, not ${show(raw)}`);
    },
    '',
    true,
  );
}

export function oneOf<const V extends string>(values: readonly V[], doc: string): Leaf<V | undefined> {
  return leaf(
    values.join(' | '),
    doc,
    (raw) => {
      const found = values.find((value) => value === String(raw));
      if (found === undefined) throw new BadValue(`must be one of ${values.join(', ')}, not ${show(raw)}`);
      return found;
    },
    '',
  );
}

export function integer(min: number, max: number, doc: string): Leaf<number | undefined> {
  return leaf(
    `whole number, ${min} to ${max}`,
    doc,
    (raw) => {
      const value = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw;
      if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
        throw new BadValue(`must be a whole number from ${min} to ${max}, not ${show(raw)}`);
      }
      return value;
    },
    '',
  );
}

export function duration(min: string, max: string, doc: string): Leaf<number | undefined, 'Ms'> {
  return leaf(
    `duration, ${min} to ${max}`,
    doc,
    (raw) =>
      quantity(raw, parseDurationMs, min, max, 'a duration with a unit such as 500ms, 45s, 15m, 2h or 7d'),
    'Ms',
  );
}

export function size(min: string, max: string, doc: string): Leaf<number | undefined, 'Bytes'> {
  return leaf(
    `size, ${min} to ${max}`,
    doc,
    (raw) => quantity(raw, parseSizeBytes, min, max, 'a size with a unit such as 512KiB, 8MiB or 1GiB'),
    'Bytes',
  );
}

function quantity(
  raw: unknown,
  parse: (text: string) => number | undefined,
  min: string,
  max: string,
  what: string,
): number {
  const value = typeof raw === 'string' ? parse(raw) : undefined;
  if (value === undefined) throw new BadValue(`must be ${what}, not ${show(raw)}`);
  if (value < (parse(min) ?? 0) || value > (parse(max) ?? Infinity)) {
    throw new BadValue(`must lie between ${min} and ${max}, not ${show(raw)}`);
  }
  return value;
}

export function required<T, S extends string>(base: Leaf<T | undefined, S>): Leaf<T, S> {
  return { ...(base as Leaf<T, S>), isRequired: true };
}

export function withDefault<T, S extends string>(
  base: Leaf<T | undefined, S>,
  defaultText: string,
): Leaf<T, S> {
  return { ...(base as Leaf<T, S>), defaultText };
}

export function section<K extends SectionKeys>(doc: string, keys: K): Section<K> {
  return { kind: 'section', doc, keys };
}

export function named<K extends SectionKeys>(
  doc: string,
  placeholder: string,
  of: Section<K>,
): NamedSections<K> {
  return { kind: 'named', doc, placeholder, of };
}

export function list<N extends Leaf<unknown> | Section>(
  doc: string,
  of: N,
  defaultText: readonly string[] = [],
): List<N> {
  return { kind: 'list', doc, of, defaultText };
}

/** A value in an error sentence: short, and on one line. */
export function show(raw: unknown): string {
  const shown = raw === undefined ? 'nothing' : JSON.stringify(raw);
  return shown.length > 80 ? `${shown.slice(0, 77)}…` : shown;
}
