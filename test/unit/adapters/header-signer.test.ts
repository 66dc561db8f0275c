import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { describe, expect, it } from 'vitest';
import { HeaderSigner, type RequestToSign } from '../../../src/adapters/s3/header-signer.js';
import { encodeKey } from '../../../src/adapters/url-encoding.js';

/** What AWS's signer wants of a hash. */
class Sha256 {
  private readonly hash;

  constructor(secret?: string | Uint8Array) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
  }

  update(data: string | Uint8Array): void {
    this.hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.hash.digest());
  }
}

const region = 'eu-central-1';
const atMs = Date.UTC(2026, 10, 30, 23, 59, 59, 700);
const plain = { accessKeyId: 'AKID', secretAccessKey: 'se/cret' };

async function byAws(
  { method, path, query, headers, body }: RequestToSign,
  credentials: typeof plain & { sessionToken?: string },
): Promise<Record<string, string>> {
  const signer = new SignatureV4({
    service: 's3',
    region,
    credentials,
    sha256: Sha256 as unknown as ConstructorParameters<typeof SignatureV4>[0]['sha256'],
    uriEscapePath: false,
  });
  const request = { protocol: 'https:', hostname: 'unused', method, path, query: { ...query } };
  const signed = await signer.sign(
    { ...request, headers: { ...headers }, body },
    { signingDate: new Date(atMs) },
  );
  return signed.headers;
}

const requests: readonly (readonly [string, RequestToSign])[] = [
  ['a GET', { method: 'GET', path: '/b/k', query: {}, headers: { host: 'h' } }],
  [
    'a Complete',
    {
      method: 'POST',
      path: '/b/dir/part-0',
      query: { uploadId: 'a/b+c==~&' },
      headers: { host: 'h:9000', 'content-type': 'application/xml', 'if-none-match': '*' },
      body: Buffer.from('<CompleteMultipartUpload/>'),
    },
  ],
  ['an initiate', { method: 'POST', path: '/k', query: { uploads: '' }, headers: { host: 'h' } }],
  [
    'a key that has to be encoded',
    {
      method: 'PUT',
      path: `/b/${encodeKey("dt=1/ä ö!*()'+,;:@&=$%/€")}`,
      query: {},
      headers: { host: 'h', 'x-amz-meta-commitbridge-id': 'f00' },
      body: Buffer.alloc(0),
    },
  ],
  [
    'several parameters, out of order, one name the beginning of another',
    {
      method: 'GET',
      path: '/b/',
      query: { prefix: 'a=b', 'list-type': '2', 'pre-fix': '', a: 'ü', 'a-b': '1' },
      headers: { host: 'h' },
    },
  ],
  [
    'spaces in a header',
    { method: 'PUT', path: '/b/k', query: {}, headers: { host: 'h', 'x-amz-meta-a': '  b   c ' } },
  ],
];

describe('HeaderSigner', () => {
  it.each(requests)('signs %s as AWS’s signer does', async (_, request) => {
    const signed = new HeaderSigner(region).sign(request, plain, atMs);
    expect(signed).toEqual(await byAws(request, plain));
  });

  it('signs the token of temporary credentials', async () => {
    const credentials = { ...plain, sessionToken: 'to/ken==' };
    for (const [, request] of requests) {
      const signed = new HeaderSigner(region).sign(request, credentials, atMs);
      expect(signed).toEqual(await byAws(request, credentials));
    }
  });

  it('goes on with other credentials, and on another day', async () => {
    const signer = new HeaderSigner(region);
    const [[, request]] = requests as [(typeof requests)[number]];
    const first = signer.sign(request, plain, atMs);
    const other = { accessKeyId: 'AKID', secretAccessKey: 'another' };
    expect(signer.sign(request, other, atMs)).toEqual(await byAws(request, other));
    expect(signer.sign(request, plain, atMs)).toEqual(first);
    const nextDay = signer.sign(request, plain, atMs + 1_000);
    expect(nextDay['x-amz-date']).toBe('20261201T000000Z');
    expect(nextDay['authorization']).toContain('/20261201/eu-central-1/s3/aws4_request');
  });
});
