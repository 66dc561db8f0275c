import { createHmac } from 'node:crypto';
import signUtils from 'ali-oss/lib/common/signUtils.js';
import type { OssAccessKey } from './oss-options.js';

export interface RequestToSign {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly bucket: string;
  /** Empty where it is about the bucket. */
  readonly key: string;
  /** Query parameters that both signatures cover. */
  readonly subresources: Readonly<Record<string, string>>;
  /** Those that V1 leaves out. */
  readonly query?: Readonly<Record<string, string>>;
  /** Names in lower case. Both signatures cover `content-type`, `content-md5` and what begins with `x-oss-`. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * What ali-oss's primitives sign, by a time that is given: its own ways read the clock of this machine, keep the keys
 * in the client that all requests share, and derive the key of V4 anew for each, which is most of what it costs.
 */
export class OssSigner {
  private derived: { readonly from: string; readonly key: Buffer } | undefined;

  constructor(
    private readonly version: 'v1' | 'v4',
    private readonly region: string,
  ) {}

  /** All headers of a request that is sent now. */
  sign(request: RequestToSign, accessKey: OssAccessKey, nowMs: number): Record<string, string> {
    const { accessKeyId, accessKeySecret, securityToken } = accessKey;
    const { method, bucket, key, subresources, query = {} } = request;
    const headers: Record<string, string> = { ...request.headers };
    if (securityToken !== undefined) headers['x-oss-security-token'] = securityToken;
    if (this.version === 'v1') {
      headers['x-oss-date'] = new Date(nowMs).toUTCString();
      const signed = { headers, parameters: withoutEmpty(subresources) };
      const text = signUtils.buildCanonicalString(method, `/${bucket}/${key}`, signed);
      const signature = signUtils.computeSignature(accessKeySecret, text);
      return { ...headers, authorization: `OSS ${accessKeyId}:${signature}` };
    }
    const date = basicIso(nowMs);
    headers['x-oss-date'] = date;
    headers['x-oss-content-sha256'] = 'UNSIGNED-PAYLOAD';
    const queries = withoutEmpty({ ...subresources, ...query });
    const canonical = signUtils.getCanonicalRequest(method, { headers, queries }, bucket, key, []);
    const credential = signUtils.getCredential(date.slice(0, 8), this.region, accessKeyId);
    const signature = this.signatureV4(accessKeySecret, date, canonical);
    headers['authorization'] = `OSS4-HMAC-SHA256 Credential=${credential},Signature=${signature}`;
    return headers;
  }

  /** The query of a URL that anybody may send until it expires. */
  presign(
    request: RequestToSign,
    accessKey: OssAccessKey,
    nowMs: number,
    expiresInSeconds: number,
  ): Record<string, string> {
    const { method, bucket, key, subresources, headers } = request;
    const { accessKeyId, accessKeySecret, securityToken } = accessKey;
    if (this.version === 'v1') {
      const parameters = {
        ...subresources,
        ...(securityToken === undefined ? {} : { 'security-token': securityToken }),
      };
      const expires = String(Math.floor(nowMs / 1_000) + expiresInSeconds);
      const text = signUtils.buildCanonicalString(
        method,
        `/${bucket}/${key}`,
        { headers, parameters },
        expires,
      );
      const signature = signUtils.computeSignature(accessKeySecret, text);
      return { OSSAccessKeyId: accessKeyId, Expires: expires, Signature: signature, ...parameters };
    }
    const date = basicIso(nowMs);
    const queries: Record<string, string> = {
      ...subresources,
      'x-oss-credential': signUtils.getCredential(date.slice(0, 8), this.region, accessKeyId),
      'x-oss-date': date,
      'x-oss-expires': String(expiresInSeconds),
      'x-oss-signature-version': 'OSS4-HMAC-SHA256',
      ...(securityToken === undefined ? {} : { 'x-oss-security-token': securityToken }),
    };
    const canonical = signUtils.getCanonicalRequest(method, { headers, queries }, bucket, key, []);
    return { ...queries, 'x-oss-signature': this.signatureV4(accessKeySecret, date, canonical) };
  }

  private signatureV4(accessKeySecret: string, date: string, canonical: string): string {
    const text = signUtils.getStringToSign(this.region, date, canonical);
    return hmac(this.keyOf(accessKeySecret, date.slice(0, 8)), text).toString('hex');
  }

  /** It changes with the day, and with the keys. */
  private keyOf(accessKeySecret: string, day: string): Buffer {
    const from = `${accessKeySecret} ${day}`;
    if (this.derived?.from !== from) {
      const scope = [day, this.region, 'oss', 'aliyun_v4_request'];
      this.derived = { from, key: scope.reduce(hmac, Buffer.from(`aliyun_v4${accessKeySecret}`)) };
    }
    return this.derived.key;
  }
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** As `20261130T192800Z`. */
function basicIso(nowMs: number): string {
  return new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '');
}

/** A parameter without a value is signed as its name alone. */
function withoutEmpty(values: Readonly<Record<string, string>>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === '' ? null : value]),
  );
}
