import type { AccessKey } from './credentials.js';
import { invalidArgument, OssError } from './oss-error.js';
import type { OssRequest } from './oss-request.js';
import { signatureV1, stringToSignV1 } from './signature-v1.js';
import {
  expired,
  keyOf,
  mismatch,
  parseGmt,
  requireRecent,
  requireVersion,
  same,
  type Verifier,
} from './verifier.js';

const maxFutureExpirySeconds = 100 * 365 * 24 * 3600;

export function headerV1(request: OssRequest, authorization: string, verifier: Verifier): void {
  requireVersion('v1', verifier);
  const match = /^OSS ([^:]+):(.+)$/.exec(authorization);
  if (match === null)
    throw invalidArgument('Authorization header is invalid.', 'Authorization', authorization);
  const [, keyId = '', provided = ''] = match;
  const date = request.headers.get('x-oss-date') ?? request.headers.get('date');
  const time = date === undefined ? NaN : parseGmt(date);
  if (date === undefined || Number.isNaN(time)) {
    throw new OssError(403, 'AccessDenied', 'OSS authentication requires a valid Date.');
  }
  const key = keyOf(keyId, request.headers.get('x-oss-security-token'), verifier);
  requireRecent(time, verifier);
  verifyV1(request, date, key, provided);
}

export function urlV1(request: OssRequest, verifier: Verifier): void {
  requireVersion('v1', verifier);
  const { query } = request;
  const keyId = query.get('OSSAccessKeyId');
  const expires = query.get('Expires');
  const provided = query.get('Signature');
  if (keyId === undefined || expires === undefined || provided === undefined) {
    throw new OssError(
      403,
      'AccessDenied',
      'Query-string authentication requires the Signature, Expires and OSSAccessKeyId parameters',
    );
  }
  const key = keyOf(keyId, query.get('security-token'), verifier);
  const nowSeconds = verifier.now() / 1000;
  if (!/^\d+$/.test(expires) || Number(expires) > nowSeconds + maxFutureExpirySeconds) {
    throw new OssError(403, 'AccessDenied', 'Invalid date (should be seconds since epoch).');
  }
  if (Number(expires) < nowSeconds) throw expired(Number(expires) * 1000, verifier);
  verifyV1(request, expires, key, provided);
}

function verifyV1(request: OssRequest, date: string, key: AccessKey, provided: string): void {
  const stringToSign = stringToSignV1(request, date);
  if (same(signatureV1(key.accessKeySecret, stringToSign), provided)) return;
  throw mismatch(key, provided, stringToSign);
}
