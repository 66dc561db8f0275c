import { createHash, createHmac } from 'node:crypto';
import type { OssRequest } from './oss-request.js';

export const algorithmV4 = 'OSS4-HMAC-SHA256';

export interface ScopeV4 {
  /** YYYYMMDD */
  date: string;
  region: string;
}

/** What V4 hashes and signs. */
export function canonicalRequestV4(
  request: OssRequest,
  additionalHeaders: readonly string[],
  payloadHash: string,
): string {
  const { bucket, key } = request;
  const path = bucket === '' ? '/' : `/${bucket}/${key}`;
  return [
    request.method,
    uriEncode(path, true),
    canonicalQuery(request),
    canonicalHeaders(request, additionalHeaders),
    additionalHeaders.join(';'),
    payloadHash,
  ].join('\n');
}

/** An empty value is signed as the key alone. */
function canonicalQuery({ query }: OssRequest): string {
  return query.entries
    .filter(([name]) => name !== 'x-oss-signature')
    .map(([name, value]) => [uriEncode(name), uriEncode(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => (value === '' ? name : `${name}=${value}`))
    .join('&');
}

function canonicalHeaders({ headers }: OssRequest, additionalHeaders: readonly string[]): string {
  return [...headers]
    .filter(
      ([name]) =>
        name === 'content-type' ||
        name === 'content-md5' ||
        name.startsWith('x-oss-') ||
        additionalHeaders.includes(name),
    )
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}:${value.trim()}\n`)
    .join('');
}

export function stringToSignV4(canonicalRequest: string, timestamp: string, scope: ScopeV4): string {
  const hash = createHash('sha256').update(canonicalRequest, 'utf8').digest('hex');
  return [algorithmV4, timestamp, `${scope.date}/${scope.region}/oss/aliyun_v4_request`, hash].join('\n');
}

const signingKeys = new Map<string, Buffer>();

export function signatureV4(secret: string, stringToSign: string, scope: ScopeV4): string {
  const name = `${secret}\n${scope.date}\n${scope.region}`;
  let key = signingKeys.get(name);
  if (key === undefined) {
    key = [scope.date, scope.region, 'oss', 'aliyun_v4_request'].reduce(
      (last: Buffer, part) => hmac(last, part),
      Buffer.from(`aliyun_v4${secret}`),
    );
    if (signingKeys.size > 1_000) signingKeys.clear();
    signingKeys.set(name, key);
  }
  return hmac(key, stringToSign).toString('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest();
}

/** RFC 3986: all but unreserved characters; a slash stays where it parts a path. */
export function uriEncode(text: string, keepSlash = false): string {
  const encoded = encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return keepSlash ? encoded.replaceAll('%2F', '/') : encoded;
}
