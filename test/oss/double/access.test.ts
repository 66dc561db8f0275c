import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OssDouble } from '../../support/oss-double/index.js';
import { RawClient } from './raw-client.js';

const minute = 60_000;
let double: OssDouble;
let client: RawClient;
let now: number;

beforeEach(async () => {
  now = Date.now();
  const cnames = { 'data.example.com': 'lake' };
  double = await OssDouble.start({ buckets: ['lake'], cnames, now: () => now });
  client = new RawClient(double);
});

afterEach(async () => {
  await double.stop();
});

describe('whose requests the double of OSS takes', () => {
  it('refuses a wrong signature and says what it signed', async () => {
    const accessKey = { ...double.accessKey, accessKeySecret: 'wrong' };
    const reply = await client.send('GET', 'a', { accessKey });
    expect(reply).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
    expect(reply.headers['x-oss-ec']).toBe('0002-00000040');
    expect(reply.body).toMatch(/<StringToSign>GET\n\n\n.* GMT\n\/lake\/a<\/StringToSign>/);
    expect(reply.body).toMatch(/<RequestId>[0-9A-F]{24}<\/RequestId><HostId>127\.0\.0\.1:\d+<\/HostId>/);
  });

  it.each([
    ['nothing', 'GET', 'a', {}],
    ['another method', 'PUT', 'a', {}],
    ['another key', 'GET', 'b', {}],
    ['a sub-resource more', 'GET', 'a?uploadId=1', {}],
    ['a header of OSS more', 'GET', 'a', { 'x-oss-meta-a': 'b' }],
    ['a content type', 'GET', 'a', { 'content-type': 'text/plain' }],
  ])('a signature is of the request as it is; changed: %s', async (changed, method, target, headers) => {
    const signed = client.open('GET', 'a');
    const authorization = String(signed.getHeader('authorization'));
    const date = String(signed.getHeader('date'));
    signed.destroy();
    const reply = await client.send(method, target, {
      unsigned: true,
      headers: { ...headers, authorization, date, 'content-length': '0' },
    });
    const code = changed === 'nothing' ? 'NoSuchKey' : 'SignatureDoesNotMatch';
    expect(reply.code).toBe(code);
  });

  it('takes a clock that is off by less than 15 minutes', async () => {
    for (const [off, status] of [
      [-14, 404],
      [14, 404],
      [-16, 403],
      [16, 403],
    ] as const) {
      const reply = await client.send('GET', 'a', { date: new Date(now + off * minute) });
      expect({ off, status: reply.status }).toEqual({ off, status });
      if (status === 403) expect(reply.code).toBe('RequestTimeTooSkewed');
    }
  });

  it('refuses who says nothing, and who says nonsense', async () => {
    expect(await client.send('GET', 'a', { unsigned: true })).toMatchObject({
      status: 403,
      code: 'AccessDenied',
    });
    const headers = { authorization: 'AWS4-HMAC-SHA256 Credential=x' };
    const nonsense = await client.send('GET', 'a', { unsigned: true, headers });
    expect(nonsense).toMatchObject({ status: 400, code: 'InvalidArgument' });
    const nobody = { accessKeyId: 'nobody', accessKeySecret: 'x' };
    expect(await client.send('GET', 'a', { accessKey: nobody })).toMatchObject({
      status: 403,
      code: 'InvalidAccessKeyId',
    });
  });

  it('takes temporary credentials with their token until they expire', async () => {
    const accessKey = double.keys.issue(10 * minute);
    const { accessKeyId, accessKeySecret } = accessKey;
    expect((await client.send('PUT', 'a', { accessKey, body: 'x' })).status).toBe(200);
    const without = await client.send('GET', 'a', { accessKey: { accessKeyId, accessKeySecret } });
    expect(without).toMatchObject({ status: 403, code: 'InvalidAccessKeyId' });
    const other = await client.send('GET', 'a', { accessKey: { ...accessKey, securityToken: 'other' } });
    expect(other).toMatchObject({ status: 403, code: 'InvalidSecurityToken' });
    const lasting = await client.send('GET', 'a', {
      accessKey: { ...double.accessKey, securityToken: accessKey.securityToken },
    });
    expect(lasting).toMatchObject({ status: 403, code: 'InvalidAccessKeyId' });
    now += 11 * minute;
    const late = await client.send('GET', 'a', { accessKey, date: new Date(now) });
    expect(late).toMatchObject({ status: 403, code: 'SecurityTokenExpired' });
    expect(late.headers['x-oss-ec']).toBe('0002-00000007');
  });
});

describe('addresses of the double of OSS', () => {
  it.each([
    'lake.oss-cn-hangzhou.aliyuncs.com',
    'lake.oss-cn-hangzhou-internal.aliyuncs.com',
    'data.example.com',
    'lake.localhost:1234',
  ])('%s is the bucket', async (host) => {
    const options = { host, cnames: { 'data.example.com': 'lake' } };
    expect((await client.send('PUT', 'a/../b%20c', { ...options, body: 'x' })).status).toBe(200);
    expect((await client.send('GET', 'a/../b%20c')).body).toBe('x');
  });

  it('refuses another region and an unknown domain', async () => {
    const elsewhere = await client.send('GET', 'a', {
      host: 'lake.oss-cn-beijing.aliyuncs.com',
      unsigned: true,
    });
    expect(elsewhere).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(elsewhere.body).toContain('<Endpoint>oss-cn-hangzhou.aliyuncs.com</Endpoint>');
    const unknown = await client.send('GET', 'a', { host: 'other.example.com', unsigned: true });
    expect(unknown).toMatchObject({ status: 404, code: 'NoSuchBucket' });
  });

  it('refuses path style as OSS does, when told so', async () => {
    const strict = await OssDouble.start({ buckets: ['lake'], pathStyle: 'refused' });
    try {
      const strictClient = new RawClient(strict);
      const reply = await strictClient.send('GET', 'a');
      expect(reply).toMatchObject({ status: 403, code: 'SecondLevelDomainForbidden' });
      const host = 'lake.oss-cn-hangzhou.aliyuncs.com';
      expect((await strictClient.send('PUT', 'a', { host, body: 'x' })).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });
});
