import type OSS from 'ali-oss';
import signUtils from 'ali-oss/lib/common/signUtils.js';
import type { OssAccessKey } from './oss-options.js';

export interface RequestToSign {
  readonly method: 'PUT' | 'DELETE';
  readonly bucket: string;
  readonly key: string;
  readonly subresources: Readonly<Record<string, string>>;
  /** Sent with the request as they are: both signatures cover `content-type` and what begins with `x-oss-`. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * URLs that anybody may send until they expire. ali-oss's own ways to them read the clock of this machine, want a
 * bucket each, and refuse IP addresses; its primitives are used.
 */
export function presignUrl(
  client: Pick<OSS, '_getReqUrl'>,
  request: RequestToSign,
  accessKey: OssAccessKey,
  options: {
    readonly version: 'v1' | 'v4';
    readonly region: string;
    /** By the store's clock. */
    readonly nowMs: number;
    readonly expiresInSeconds: number;
  },
): string {
  const base = client._getReqUrl({ bucket: request.bucket, object: request.key });
  const query =
    options.version === 'v4' ? queryV4(request, accessKey, options) : queryV1(request, accessKey, options);
  const encoded = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`);
  return `${base}?${encoded.join('&')}`;
}

function queryV1(
  { method, bucket, key, subresources, headers }: RequestToSign,
  { accessKeyId, accessKeySecret, securityToken }: OssAccessKey,
  { nowMs, expiresInSeconds }: { readonly nowMs: number; readonly expiresInSeconds: number },
): Record<string, string> {
  const parameters = {
    ...subresources,
    ...(securityToken === undefined ? {} : { 'security-token': securityToken }),
  };
  const expires = String(Math.floor(nowMs / 1_000) + expiresInSeconds);
  // A missing Content-Type is an empty line, not the word "undefined" nor no line.
  const signed = { 'content-type': '', ...headers };
  const resource = `/${bucket}/${key}`;
  const text = signUtils.buildCanonicalString(method, resource, { headers: signed, parameters }, expires);
  const signature = signUtils.computeSignature(accessKeySecret, text);
  return { OSSAccessKeyId: accessKeyId, Expires: expires, Signature: signature, ...parameters };
}

function queryV4(
  { method, bucket, key, subresources, headers }: RequestToSign,
  { accessKeyId, accessKeySecret, securityToken }: OssAccessKey,
  options: { readonly region: string; readonly nowMs: number; readonly expiresInSeconds: number },
): Record<string, string> {
  const { region, nowMs, expiresInSeconds } = options;
  const date = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = date.slice(0, 8);
  const queries: Record<string, string> = {
    ...subresources,
    'x-oss-credential': signUtils.getCredential(day, region, accessKeyId),
    'x-oss-date': date,
    'x-oss-expires': String(expiresInSeconds),
    'x-oss-signature-version': 'OSS4-HMAC-SHA256',
    ...(securityToken === undefined ? {} : { 'x-oss-security-token': securityToken }),
  };
  const canonical = signUtils.getCanonicalRequest(method, { headers, queries }, bucket, key, []);
  const text = signUtils.getStringToSign(region, date, canonical);
  return { ...queries, 'x-oss-signature': signUtils.getSignatureV4(accessKeySecret, day, region, text) };
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
