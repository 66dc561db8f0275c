import { timingSafeEqual } from 'node:crypto';
import type { AccessKey, KnownKeys } from './credentials.js';
import { invalidArgument, OssError } from './oss-error.js';
import type { OssRequest } from './oss-request.js';
import { signatureV1, stringToSignV1 } from './signature-v1.js';
import { algorithmV4, canonicalRequestV4, signatureV4, stringToSignV4 } from './signature-v4.js';

const maxSkewMs = 15 * 60 * 1000;
const maxUrlLifetimeSeconds = 7 * 24 * 3600;
const maxFutureExpiryV1Seconds = 100 * 365 * 24 * 3600;

export interface Verifier {
  keys: KnownKeys;
  region: string;
  now: () => number;
  /** What a bucket with V1 switched off answers. */
  signatureVersions: readonly ('v1' | 'v4')[];
}

/** Throws unless the request is signed by a known key, now, and exactly as it came. */
export function authenticate(request: OssRequest, verifier: Verifier): void {
  const { headers, query } = request;
  const authorization = headers.get('authorization');
  if (authorization?.startsWith(algorithmV4) === true) {
    headerV4(request, authorization, verifier);
    return;
  }
  if (authorization?.startsWith('OSS ') === true) {
    headerV1(request, authorization, verifier);
    return;
  }
  if (authorization !== undefined) {
    throw invalidArgument('Authorization header is invalid.', 'Authorization', authorization);
  }
  if (query.has('x-oss-signature-version')) {
    urlV4(request, verifier);
    return;
  }
  if (query.has('Signature') || query.has('OSSAccessKeyId')) {
    urlV1(request, verifier);
    return;
  }
  throw new OssError(
    403,
    'AccessDenied',
    request.key === ''
      ? 'Anonymous access is forbidden for this operation.'
      : 'You have no right to access this object because of bucket acl.',
    { ec: '0003-00000001' },
  );
}

// --- V1 ---

function headerV1(request: OssRequest, authorization: string, verifier: Verifier): void {
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

function urlV1(request: OssRequest, verifier: Verifier): void {
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
  if (!/^\d+$/.test(expires) || Number(expires) > nowSeconds + maxFutureExpiryV1Seconds) {
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

// --- V4 ---

interface CredentialV4 {
  keyId: string;
  date: string;
  region: string;
}

function headerV4(request: OssRequest, authorization: string, verifier: Verifier): void {
  requireVersion('v4', verifier);
  const fields = new Map<string, string>();
  for (const field of authorization.slice(algorithmV4.length).split(',')) {
    const equals = field.indexOf('=');
    if (equals > 0) fields.set(field.slice(0, equals).trim(), field.slice(equals + 1).trim());
  }
  const provided = fields.get('Signature') ?? '';
  const credential = parseCredential(fields.get('Credential') ?? '');
  const additional = parseAdditionalHeaders(fields.get('AdditionalHeaders'), request);
  const { headers } = request;
  const payloadHash = headers.get('x-oss-content-sha256');
  if (payloadHash !== 'UNSIGNED-PAYLOAD') {
    throw invalidArgument('Invalid x-oss-content-sha256.', 'x-oss-content-sha256', payloadHash);
  }
  const key = keyOf(credential.keyId, headers.get('x-oss-security-token'), verifier);
  const timestamp = timestampOf(headers.get('x-oss-date'), headers.get('date'));
  requireRecent(parseIso(timestamp), verifier);
  verifyV4(request, { credential, additional, payloadHash, timestamp, key, provided }, verifier);
}

function urlV4(request: OssRequest, verifier: Verifier): void {
  requireVersion('v4', verifier);
  const { query } = request;
  const [version, credentialText, timestamp, expires, provided] = [
    'x-oss-signature-version',
    'x-oss-credential',
    'x-oss-date',
    'x-oss-expires',
    'x-oss-signature',
  ].map((name) => query.get(name));
  if (version !== algorithmV4) {
    throw invalidArgument('Invalid x-oss-signature-version.', 'x-oss-signature-version', version);
  }
  const seconds = Number(expires);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > maxUrlLifetimeSeconds) {
    throw new OssError(403, 'AccessDenied', 'x-oss-expires should be between 1 and 604800 seconds.', {
      ec: '0002-00000216',
    });
  }
  const credential = parseCredential(credentialText ?? '');
  const additional = parseAdditionalHeaders(query.get('x-oss-additional-headers'), request);
  const key = keyOf(credential.keyId, query.get('x-oss-security-token'), verifier);
  const signedAt = parseIso(timestamp ?? '');
  if (signedAt - maxSkewMs > verifier.now()) throw skewed(signedAt, verifier);
  if (signedAt + seconds * 1000 < verifier.now()) throw expired(signedAt + seconds * 1000, verifier);
  const signed = { credential, additional, payloadHash: 'UNSIGNED-PAYLOAD', timestamp: timestamp ?? '', key };
  verifyV4(request, { ...signed, provided: provided ?? '' }, verifier);
}

interface SignedV4 {
  credential: CredentialV4;
  additional: readonly string[];
  payloadHash: string;
  timestamp: string;
  key: AccessKey;
  provided: string;
}

function verifyV4(request: OssRequest, signed: SignedV4, verifier: Verifier): void {
  const { credential, timestamp, key, provided } = signed;
  if (credential.region !== verifier.region) {
    throw invalidArgument(
      'Invalid signing region or date in Authorization.',
      'Credential',
      credential.region,
    );
  }
  if (!timestamp.startsWith(credential.date)) {
    throw invalidArgument('Invalid signing date in Authorization header.', 'Credential', credential.date);
  }
  const canonical = canonicalRequestV4(request, signed.additional, signed.payloadHash);
  const stringToSign = stringToSignV4(canonical, timestamp, credential);
  if (same(signatureV4(key.accessKeySecret, stringToSign, credential), provided)) return;
  throw mismatch(key, provided, stringToSign, canonical);
}

function parseCredential(text: string): CredentialV4 {
  const match = /^([^/]+)\/(\d{8})\/([^/]+)\/oss\/aliyun_v4_request$/.exec(text);
  if (match === null) throw invalidArgument('Invalid Credential.', 'Credential', text);
  const [, keyId = '', date = '', region = ''] = match;
  return { keyId, date, region };
}

function parseAdditionalHeaders(text: string | undefined, request: OssRequest): string[] {
  const names = text === undefined || text === '' ? [] : text.toLowerCase().split(';');
  const absent = names.find((name) => !request.headers.has(name));
  if (absent !== undefined) throw invalidArgument('A signed header is missing.', 'AdditionalHeaders', absent);
  return names.sort();
}

function timestampOf(ossDate: string | undefined, date: string | undefined): string {
  if (ossDate !== undefined) return ossDate;
  const time = date === undefined ? NaN : parseGmt(date);
  if (Number.isNaN(time)) {
    throw new OssError(403, 'AccessDenied', 'OSS authentication requires a valid Date.');
  }
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
}

// --- both ---

function keyOf(keyId: string, token: string | undefined, verifier: Verifier): AccessKey {
  const { lasting } = verifier.keys;
  const temporary = verifier.keys.temporaryOf(keyId);
  if (token === undefined) {
    // The id of temporary credentials without their token is unknown too.
    if (keyId === lasting.accessKeyId) return lasting;
    throw unknownKey(keyId, '0002-00000902');
  }
  if (temporary === undefined) throw unknownKey(keyId, '0002-00000002');
  if (temporary.securityToken !== token) {
    throw new OssError(403, 'InvalidSecurityToken', 'The security token you provided is invalid.', {
      ec: '0002-00000006',
      details: { SecurityToken: token },
    });
  }
  if (temporary.expiresAt <= verifier.now()) {
    throw new OssError(403, 'SecurityTokenExpired', 'The security token you provided has expired.', {
      ec: '0002-00000007',
      details: { SecurityToken: token },
    });
  }
  return temporary;
}

function unknownKey(keyId: string, ec: string): OssError {
  return new OssError(
    403,
    'InvalidAccessKeyId',
    'The OSS Access Key Id you provided does not exist in our records.',
    { ec, details: { OSSAccessKeyId: keyId } },
  );
}

function requireVersion(version: 'v1' | 'v4', { signatureVersions }: Verifier): void {
  if (signatureVersions.includes(version)) return;
  throw invalidArgument(
    `Signature ${version.toUpperCase()} is not allowed by this endpoint.`,
    'Authorization',
    version,
  );
}

function requireRecent(time: number, verifier: Verifier): void {
  if (!(Math.abs(time - verifier.now()) <= maxSkewMs)) throw skewed(time, verifier);
}

function skewed(time: number, verifier: Verifier): OssError {
  return new OssError(
    403,
    'RequestTimeTooSkewed',
    'The difference between the request time and the current time is too large.',
    {
      ec: '0002-00000504',
      details: {
        MaxAllowedSkewMilliseconds: String(maxSkewMs),
        RequestTime: Number.isNaN(time) ? '' : new Date(time).toISOString(),
        ServerTime: new Date(verifier.now()).toISOString(),
      },
    },
  );
}

function expired(at: number, verifier: Verifier): OssError {
  return new OssError(403, 'AccessDenied', 'Request has expired.', {
    ec: '0002-00000069',
    details: {
      Expires: new Date(at).toISOString(),
      ServerTime: new Date(verifier.now()).toISOString(),
    },
  });
}

function mismatch(key: AccessKey, provided: string, stringToSign: string, canonical?: string): OssError {
  return new OssError(
    403,
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
    {
      ec: '0002-00000040',
      details: {
        OSSAccessKeyId: key.accessKeyId,
        SignatureProvided: provided,
        StringToSign: stringToSign,
        StringToSignBytes: Buffer.from(stringToSign)
          .toString('hex')
          .toUpperCase()
          .replace(/..(?!$)/g, '$& '),
        ...(canonical === undefined ? {} : { CanonicalRequest: canonical }),
      },
    },
  );
}

function parseGmt(text: string): number {
  return /^\w{3}, \d{1,2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text) ? Date.parse(text) : NaN;
}

function parseIso(text: string): number {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (match === null) {
    throw new OssError(403, 'AccessDenied', 'OSS authentication requires a valid x-oss-date.');
  }
  const [, year, month, day, hour, minute, second] = match;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
