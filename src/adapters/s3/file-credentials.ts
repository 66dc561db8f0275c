import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../ports/clock.js';
import { StoreError } from '../../ports/object-store.js';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

const LOOK_EVERY_MS = 1_000;

/**
 * Credentials in a file that is read again when it has changed. Two forms: the JSON of AWS's `credential_process`
 * (AccessKeyId, SecretAccessKey, SessionToken, Expiration), or lines like those of a shared credentials file
 * (`aws_access_key_id = …`; section headers and comments are skipped, the first value of a name counts).
 */
export class FileCredentials {
  private current: { readonly version: string; readonly credentials: AwsCredentials } | undefined;
  private lookedAtMs = -Infinity;
  private pending: Promise<AwsCredentials> | undefined;

  constructor(
    private readonly path: string,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  /** The file is looked at once a second at most, and by one caller at a time. */
  get(): Promise<AwsCredentials> {
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

  private async look(): Promise<AwsCredentials> {
    try {
      const { mtimeMs, size, ino } = await stat(this.path);
      const version = `${mtimeMs}/${size}/${ino}`;
      if (version !== this.current?.version) {
        this.current = { version, credentials: parseCredentials(await readFile(this.path, 'utf8')) };
      }
      this.lookedAtMs = this.clock.monotonicMs();
      return this.current.credentials;
    } catch (cause) {
      const detail = cause instanceof StoreError ? cause.message : 'it cannot be read';
      throw new StoreError('access-denied', `credentials file: ${detail}: path=${this.path}`, { cause });
    }
  }
}

export function parseCredentials(text: string): AwsCredentials {
  const values = text.trimStart().startsWith('{') ? fromJson(text) : fromLines(text);
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = values;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new StoreError('access-denied', 'it lacks an access key id or a secret access key');
  }
  if (expiration !== undefined && Number.isNaN(Date.parse(expiration))) {
    throw new StoreError('access-denied', 'its expiration is no date');
  }
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    ...(expiration !== undefined && { expiration: new Date(expiration) }),
  };
}

type Values = Partial<
  Record<'accessKeyId' | 'secretAccessKey' | 'sessionToken' | 'expiration', string | undefined>
>;

function fromJson(text: string): Values {
  let json: Record<string, unknown>;
  try {
    json = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // The parser's own message may quote the secret.
    throw new StoreError('access-denied', 'it is no valid JSON');
  }
  const stringOf = (name: string): string | undefined => {
    const value = json[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return {
    accessKeyId: stringOf('AccessKeyId'),
    secretAccessKey: stringOf('SecretAccessKey'),
    sessionToken: stringOf('SessionToken'),
    expiration: stringOf('Expiration'),
  };
}

function fromLines(text: string): Values {
  const values = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, value] = /^\s*([a-z_]+)\s*=\s*(\S+)\s*$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined && !values.has(name)) values.set(name, value);
  }
  return {
    accessKeyId: values.get('aws_access_key_id'),
    secretAccessKey: values.get('aws_secret_access_key'),
    sessionToken: values.get('aws_session_token'),
    expiration: undefined,
  };
}
