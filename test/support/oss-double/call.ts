import { createHash } from 'node:crypto';
import type { Bucket } from './bucket.js';
import { invalidArgument, OssError } from './oss-error.js';
import type { OssRequest } from './oss-request.js';
import { uriEncode } from './signature-v4.js';
import type { XmlElement } from './xml.js';

/** A request for the double's state, with the bucket found. */
export interface Call {
  request: OssRequest;
  bucket: Bucket;
  buckets: Map<string, Bucket>;
  region: string;
  /** In ms, cut to whole seconds as OSS keeps times. */
  now: number;
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: readonly Buffer[];
}

export function xmlReply(xml: string, headers: Record<string, string> = {}): Reply {
  return {
    status: 200,
    headers: { 'Content-Type': 'application/xml', ...headers },
    body: [Buffer.from(xml)],
  };
}

/** Of everything: the double has one account. */
export const owner: XmlElement = [
  'Owner',
  [
    ['ID', '1234567890123456'],
    ['DisplayName', '1234567890123456'],
  ],
];

/** Times in bodies; some SDKs insist on the milliseconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, '.000Z');
}

export function gmtTime(ms: number): string {
  return new Date(ms).toUTCString();
}

/** How names are written in a reply: encoded where the client asks for it, since XML can't hold all characters. */
export function nameWriter({ query }: OssRequest): {
  encodingType: string | undefined;
  write: (name: string) => string;
} {
  const encodingType = query.get('encoding-type');
  if (encodingType === undefined || encodingType === '')
    return { encodingType: undefined, write: (name) => name };
  if (encodingType !== 'url') {
    throw invalidArgument('Invalid Encoding Method specified in Request.', 'encoding-type', encodingType);
  }
  return { encodingType, write: (name) => uriEncode(name) };
}

/** A number in the query within bounds; its default where it is missing. */
export function queryNumber(
  { query }: OssRequest,
  name: string,
  bounds: { least: number; most: number; otherwise: number },
): number {
  const text = query.get(name);
  if (text === undefined || text === '') return bounds.otherwise;
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (!(value >= bounds.least && value <= bounds.most)) {
    throw invalidArgument(
      `Argument ${name} must be an integer between ${bounds.least} and ${bounds.most}.`,
      name,
      text,
    );
  }
  return value;
}

export function checkContentMd5({ headers, body }: OssRequest): void {
  const expected = headers.get('content-md5');
  if (expected === undefined || expected === '') return;
  if (createHash('md5').update(body).digest('base64') === expected) return;
  throw new OssError(400, 'InvalidDigest', 'The Content-MD5 you specified was invalid.', {
    details: {
      'Content-MD5': expected,
    },
  });
}

/** Keys: 1 to 1,023 bytes of UTF-8, not beginning with `/` or `\`. */
export function checkKey(key: string): void {
  if (Buffer.byteLength(key) <= 1023 && !/^[/\\]/.test(key)) return;
  throw new OssError(400, 'InvalidObjectName', 'The specified object is not valid.', {
    details: {
      ObjectName: key,
    },
  });
}

/** Ignored in buckets with versions, also while they are suspended. */
export function forbidsOverwrite({ request, bucket }: Call): boolean {
  return bucket.versioning === 'none' && request.headers.get('x-oss-forbid-overwrite') === 'true';
}
