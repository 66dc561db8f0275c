import type { AccessKey } from './credentials.js';
import { invalidArgument, OssError } from './oss-error.js';
import type { OssRequest } from './oss-request.js';
import { algorithmV4, canonicalRequestV4, signatureV4, stringToSignV4 } from './signature-v4.js';
import {
  expired,
  keyOf,
  maxSkewMs,
  mismatch,
  parseGmt,
  requireRecent,
  requireVersion,
  same,
  skewed,
  type Verifier,
} from './verifier.js';

const maxUrlLifetimeSeconds = 7 * 24 * 3600;

interface CredentialV4 {
  keyId: string;
  date: string;
  region: string;
}

export function headerV4(request: OssRequest, authorization: string, verifier: Verifier): void {
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

export function urlV4(request: OssRequest, verifier: Verifier): void {
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

function parseIso(text: string): number {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (match === null) {
    throw new OssError(403, 'AccessDenied', 'OSS authentication requires a valid x-oss-date.');
  }
  const [, year, month, day, hour, minute, second] = match;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
