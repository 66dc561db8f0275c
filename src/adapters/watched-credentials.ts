import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../ports/clock.js';
import { StoreError } from '../ports/object-store.js';

const LOOK_EVERY_MS = 1_000;

/** Credentials in a file that is read again when it has changed. */
export class FileCredentials<T> {
  private current: { readonly version: string; readonly credentials: T } | undefined;
  private lookedAtMs = -Infinity;
  private pending: Promise<T> | undefined;

  constructor(
    private readonly path: string,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    /** Throws a {@link StoreError} that says what is wrong, without the secret. */
    private readonly parse: (text: string) => T,
  ) {}

  /** The file is looked at once a second at most, and by one caller at a time. */
  get(): Promise<T> {
    const { current } = this;
    if (current !== undefined && this.clock.monotonicMs() - this.lookedAtMs < LOOK_EVERY_MS) {
      return Promise.resolve(current.credentials);
    }
    this.pending ??= this.look().finally(() => {
      this.pending = undefined;
    });
    return this.pending;
  }

  /** The store refused them: look at the file before the next request. */
  refresh(): void {
    this.lookedAtMs = -Infinity;
  }

  private async look(): Promise<T> {
    try {
      const { mtimeMs, size, ino } = await stat(this.path);
      const version = `${mtimeMs}/${size}/${ino}`;
      if (version !== this.current?.version) {
        this.current = { version, credentials: this.parse(await readFile(this.path, 'utf8')) };
      }
      this.lookedAtMs = this.clock.monotonicMs();
      return this.current.credentials;
    } catch (cause) {
      const detail = cause instanceof StoreError ? cause.message : 'it cannot be read';
      throw new StoreError('access-denied', `credentials file: ${detail}: path=${this.path}`, { cause });
    }
  }
}

/** What a file says: JSON, or lines of `name = value`, whose section headers and comments are skipped. */
export function credentialValues(
  text: string,
  names: {
    readonly json: Readonly<Record<string, string>>;
    readonly lines: Readonly<Record<string, string>>;
  },
): Readonly<Record<string, string | undefined>> {
  const isJson = text.trimStart().startsWith('{');
  const values = isJson ? jsonValues(text) : lineValues(text);
  return Object.fromEntries(
    Object.entries(isJson ? names.json : names.lines).map(([name, there]) => [name, values.get(there)]),
  );
}

/** `undefined` where the file has none. */
export function expirationOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new StoreError('access-denied', 'its expiration is no date');
  return date;
}

function jsonValues(text: string): Map<string, string> {
  let json: Record<string, unknown>;
  try {
    json = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // The parser's own message may quote the secret.
    throw new StoreError('access-denied', 'it is no valid JSON');
  }
  return new Map(
    Object.entries(json).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
    ),
  );
}

/** The first value of a name counts. */
function lineValues(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, value] = /^\s*([A-Za-z_]+)\s*=\s*(\S+)\s*$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined && !values.has(name)) values.set(name, value);
  }
  return values;
}
