import { createHash } from 'node:crypto';
import { combineCrc64, crc64 } from './crc64.js';

/** The bytes of an object or a part with what OSS says about them. */
export interface Content {
  chunks: readonly Buffer[];
  size: number;
  /** Upper-case hex, without quotes. */
  etag: string;
  crc64: bigint;
}

/** What a client sends along with an object and gets back on GET and HEAD. */
export interface ObjectHeaders {
  /** `x-oss-meta-…`, Content-Type, Cache-Control and the like, names in lower case. */
  entries: Readonly<Record<string, string>>;
  storageClass: string;
}

export interface StoredObject extends Content, ObjectHeaders {
  type: 'Normal' | 'Multipart';
  /** In ms, whole seconds. */
  lastModified: number;
}

export function contentOf(body: Buffer): Content {
  return {
    chunks: [body],
    size: body.length,
    etag: createHash('md5').update(body).digest('hex').toUpperCase(),
    crc64: crc64(body),
  };
}

/** Of a multipart object: the ETag is opaque, an MD5 of the parts' ETags with their number. */
export function joinedContent(parts: readonly Content[]): Content {
  const hash = createHash('md5');
  for (const { etag } of parts) hash.update(etag, 'latin1');
  return {
    chunks: parts.flatMap(({ chunks }) => chunks),
    size: parts.reduce((sum, { size }) => sum + size, 0),
    etag: `${hash.digest('hex').toUpperCase()}-${parts.length}`,
    crc64: parts.reduce((sum, part) => combineCrc64(sum, part.crc64, part.size), 0n),
  };
}

/** The bytes from `start` up to `end`, that one not included, without copying. */
export function slice(chunks: readonly Buffer[], start: number, end: number): Buffer[] {
  const result: Buffer[] = [];
  let offset = 0;
  for (const chunk of chunks) {
    const from = Math.max(start - offset, 0);
    const to = Math.min(end - offset, chunk.length);
    if (from < to) result.push(chunk.subarray(from, to));
    offset += chunk.length;
    if (offset >= end) break;
  }
  return result;
}

const keptHeaders = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];

const storageClasses = ['Standard', 'IA', 'Archive', 'ColdArchive', 'DeepColdArchive'];

export function objectHeaders(headers: ReadonlyMap<string, string>): ObjectHeaders {
  const entries: Record<string, string> = { 'content-type': 'application/octet-stream' };
  for (const [name, value] of headers) {
    if (value !== '' && (keptHeaders.includes(name) || name.startsWith('x-oss-meta-'))) entries[name] = value;
  }
  const storageClass = headers.get('x-oss-storage-class') ?? 'Standard';
  return { entries, storageClass: storageClasses.includes(storageClass) ? storageClass : 'Standard' };
}
