import { createHmac, hash } from 'node:crypto';
import { encodeKey, encodeQuery, type Query } from '../url-encoding.js';

export interface SigningCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface RequestToSign {
  readonly method: string;
  /** Encoded, without the query. */
  readonly path: string;
  readonly query: Query;
  /** All are signed. Names in lower case, `host` among them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

const algorithm = 'AWS4-HMAC-SHA256';
const hashOfNothing = hash('sha256', '');

/**
 * Signature version 4 for S3, in headers
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). AWS's own signer is for any service and
 * any runtime, and takes three times as long; tests compare the two. Presigned URLs are left to that one.
 */
export class HeaderSigner {
  private key: { readonly of: string; readonly bytes: Buffer } | undefined;
  private time: { readonly second: number; readonly text: string } | undefined;

  constructor(private readonly region: string) {}

  /** @returns all headers that the request needs, those to be signed included. */
  sign(request: RequestToSign, credentials: SigningCredentials, atMs: number): Record<string, string> {
    const time = this.timeText(atMs);
    const scope = `${time.slice(0, 8)}/${this.region}/s3/aws4_request`;
    const payload = request.body === undefined ? hashOfNothing : hash('sha256', request.body);
    const headers: Record<string, string> = {
      ...request.headers,
      'x-amz-date': time,
      'x-amz-content-sha256': payload,
    };
    if (credentials.sessionToken !== undefined) headers['x-amz-security-token'] = credentials.sessionToken;
    const names = Object.keys(headers).sort();
    let lines = '';
    for (const name of names) lines += `${name}:${(headers[name] ?? '').trim().replace(/\s+/g, ' ')}\n`;
    const signed = names.join(';');
    const query = canonicalQuery(request.query);
    const canonical = `${request.method}\n${request.path}\n${query}\n${lines}\n${signed}\n${payload}`;
    const toSign = `${algorithm}\n${time}\n${scope}\n${hash('sha256', canonical)}`;
    const signature = createHmac('sha256', this.keyFor(credentials, scope)).update(toSign).digest('hex');
    headers['authorization'] =
      `${algorithm} Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
    return headers;
  }

  /** Good for a day and one secret. */
  private keyFor({ secretAccessKey }: SigningCredentials, scope: string): Buffer {
    const of = `${scope}\n${secretAccessKey}`;
    if (this.key?.of !== of) {
      const bytes = scope
        .split('/')
        .reduce<Buffer>(
          (key, part) => createHmac('sha256', key).update(part).digest(),
          Buffer.from(`AWS4${secretAccessKey}`),
        );
      this.key = { of, bytes };
    }
    return this.key.bytes;
  }

  private timeText(atMs: number): string {
    const second = Math.floor(atMs / 1_000);
    if (this.time?.second !== second) {
      const text = new Date(second * 1_000).toISOString().replace(/[-:]|\.000/g, '');
      this.time = { second, text };
    }
    return this.time.text;
  }
}

/** Sorted by their encoded names. */
function canonicalQuery(query: Query): string {
  const entries = Object.entries(query);
  entries.sort(([a], [b]) => (encodeKey(a) < encodeKey(b) ? -1 : 1));
  return encodeQuery(Object.fromEntries(entries)).slice(1);
}
