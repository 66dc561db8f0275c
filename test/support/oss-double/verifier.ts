import { timingSafeEqual } from 'node:crypto';
import type { AccessKey, KnownKeys } from './credentials.js';
import { invalidArgument, OssError } from './oss-error.js';

export const maxSkewMs = 15 * 60 * 1000;

export interface Verifier {
  keys: KnownKeys;
  region: string;
  now: () => number;
  /** What a bucket with V1 switched off answers. */
  signatureVersions: readonly ('v1' | 'v4')[];
}

export function keyOf(keyId: string, token: string | undefined, verifier: Verifier): AccessKey {
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

export function requireVersion(version: 'v1' | 'v4', { signatureVersions }: Verifier): void {
  if (signatureVersions.includes(version)) return;
  throw invalidArgument(
    `Signature ${version.toUpperCase()} is not allowed by this endpoint.`,
    'Authorization',
    version,
  );
}

export function requireRecent(time: number, verifier: Verifier): void {
  if (!(Math.abs(time - verifier.now()) <= maxSkewMs)) throw skewed(time, verifier);
}

export function skewed(time: number, verifier: Verifier): OssError {
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

export function expired(at: number, verifier: Verifier): OssError {
  return new OssError(403, 'AccessDenied', 'Request has expired.', {
    ec: '0002-00000069',
    details: {
      Expires: new Date(at).toISOString(),
      ServerTime: new Date(verifier.now()).toISOString(),
    },
  });
}

export function mismatch(
  key: AccessKey,
  provided: string,
  stringToSign: string,
  canonical?: string,
): OssError {
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

export function parseGmt(text: string): number {
  return /^\w{3}, \d{1,2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text) ? Date.parse(text) : NaN;
}

export function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
