import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { OssObjectStore } from '../../../src/adapters/oss/oss-object-store.js';
import type { OssStoreOptions } from '../../../src/adapters/oss/oss-options.js';
import { SystemClock } from '../../../src/adapters/system/clock.js';
import { startScriptedServer, type Answer } from './scripted-server.js';

const object = { bucket: 'bucket', key: 'dir/a' };
const upload = { ...object, uploadId: 'u' };
const parts = [{ partNumber: 1, etag: '"E"' }];

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function against(answers: readonly Answer[], changes: Partial<OssStoreOptions> = {}) {
  const server = await startScriptedServer(answers);
  const store = new OssObjectStore(
    {
      ...{ region: 'cn-hangzhou', endpoint: server.endpoint, addressing: 'path' },
      credentials: { kind: 'static', accessKeyId: 'id', accessKeySecret: 'secret' },
      ...changes,
    },
    new SystemClock(),
  );
  stops.push(
    () => store.close(),
    () => server.stop(),
  );
  return { store, seen: server.seen };
}

/** Of `20261130T192800Z`. */
function basicTime(text: unknown): number {
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(text))!;
  return Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
}

const errorXml = (code: string, ec = '0001-00000001'): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>words</Message><EC>${ec}</EC></Error>\n`;

describe('OssObjectStore: failures', () => {
  it.each([
    [409, 'FileAlreadyExists', 'precondition-failed'],
    [404, 'NoSuchUpload', 'no-such-upload'],
    [400, 'EntityTooSmall', 'invalid-parts'],
    [503, 'TotalQpsLimitExceeded', 'throttled'],
    [503, 'ServiceUnavailable', 'throttled'],
    [500, 'InternalError', 'unavailable'],
    [403, 'SecurityTokenExpired', 'expired-credentials'],
    [403, 'InvalidAccessKeyId', 'access-denied'],
    [403, 'RequestTimeTooSkewed', 'unavailable'],
    [400, 'RequestTimeout', 'timeout'],
    [418, 'Teapot', 'invalid'],
  ])('%i %s is %s', async (status, code, kind) => {
    const { store } = await against([{ status, body: errorXml(code) }]);
    await expect(store.complete(upload, parts, {})).rejects.toMatchObject({
      kind,
      message: `words code=${code} ec=0001-00000001 status=${status}`,
      details: { status, code },
    });
  });

  it('a get of no object is no failure; one in no bucket is', async () => {
    const { store } = await against(
      ['NoSuchKey', 'NoSuchBucket'].map((code) => ({ status: 404, body: errorXml(code) })),
    );
    await expect(store.get(object)).resolves.toBeUndefined();
    await expect(store.get(object)).rejects.toMatchObject({ kind: 'no-such-bucket' });
  });

  it('an unknown key id is expired credentials where those end', async () => {
    const credentials = {
      kind: 'static',
      accessKeyId: 'STS.x',
      accessKeySecret: 's',
      securityToken: 't',
    } as const;
    const { store } = await against([{ status: 403, body: errorXml('InvalidAccessKeyId') }], { credentials });
    await expect(store.get(object)).rejects.toMatchObject({ kind: 'expired-credentials' });
  });

  it.each([
    ['an <Error> in a 200', errorXml('InternalError'), 'unavailable'],
    ['an <Error> in a 200 with its own kind', errorXml('NoSuchUpload'), 'no-such-upload'],
    ['an empty 200', '', 'unavailable'],
    ['a 200 that broke off', '<CompleteMultipartUploadResult><ETag>', 'unavailable'],
    ['a page of a proxy', '<html><body>welcome</body></html>', 'unavailable'],
  ])('a Complete with %s is no success', async (_name, body, kind) => {
    const { store } = await against([{ status: 200, body }]);
    await expect(store.complete(upload, parts, {})).rejects.toMatchObject({ kind });
  });

  it('a page of a proxy is no empty listing', async () => {
    const { store } = await against([{ status: 200, body: '<html><body>welcome</body></html>' }]);
    await expect(store.list('bucket', '', {})).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it.each([
    ['a 503 without XML', { status: 503, body: 'upstream is down' } as const, 'unavailable'],
    ['a reset connection', 'reset' as const, 'unavailable'],
  ])('%s may have had an effect', async (_name, answer, kind) => {
    const { store } = await against([answer]);
    await expect(store.put(object, Buffer.from('x'), {})).rejects.toMatchObject({ kind });
  });

  it('reads the error of a HEAD from its header', async () => {
    const header = Buffer.from(errorXml('SecurityTokenExpired')).toString('base64');
    const { store } = await against([{ status: 403, headers: { 'x-oss-err': header } }]);
    await expect(store.head(object)).rejects.toMatchObject({ kind: 'expired-credentials' });
  });

  it('says what to set where path style is refused', async () => {
    const { store } = await against([{ status: 403, body: errorXml('SecondLevelDomainForbidden') }]);
    await expect(store.get(object)).rejects.toThrow('set stores.NAME.pathStyle to false');
  });

  it('a condition that a bucket with versions ignored is no success for a fact, and one for other objects', async () => {
    const headers = { etag: '"E"', 'x-oss-version-id': 'null' };
    const { store } = await against([{ status: 200, headers }]);
    const body = Buffer.from('x');
    const ignored = { kind: 'unsupported', message: expect.stringContaining('versioning') as string };
    const fact = { ifNoneMatch: '*', oneShot: true } as const;
    await expect(store.put(object, body, fact)).rejects.toMatchObject(ignored);
    await expect(store.sendPut(await store.preparePut(object, fact, 30), body)).rejects.toMatchObject(
      ignored,
    );
    const done = { etag: '"E"' };
    await expect(store.put(object, body, { ifNoneMatch: '*' })).resolves.toEqual(done);
    const prepared = await store.preparePut(object, { ifNoneMatch: '*' }, 30);
    await expect(store.sendPut(prepared, body)).resolves.toEqual(done);
    await expect(store.put(object, body, {})).resolves.toEqual(done);
  });
});

describe('OssObjectStore: requests', () => {
  it('sends a part as it is, without a digest', async () => {
    const { store, seen } = await against([{ status: 200, headers: { etag: '"E"' } }]);
    await store.uploadPart(upload, 1, Buffer.from('bytes'));
    expect(seen[0]).toMatchObject({ method: 'PUT', url: '/bucket/dir/a?partNumber=1&uploadId=u' });
    expect(seen[0]!.body.toString()).toBe('bytes');
    expect(seen[0]!.headers).not.toHaveProperty('content-md5');
  });

  it('asks for an absent key by x-oss-forbid-overwrite', async () => {
    const { store, seen } = await against([{ status: 200, headers: { etag: '"E"' } }]);
    await store.put(object, Buffer.from('x'), { ifNoneMatch: '*' });
    expect(seen[0]!.headers).toMatchObject({ 'x-oss-forbid-overwrite': 'true' });
  });

  it('keeps keys as they are, with dots and slashes', async () => {
    const { store, seen } = await against([{ status: 200, headers: { etag: '"E"' } }]);
    for (const key of ['a/../b', './c', 'a//b', 'a b+c%41?'])
      await store.put({ bucket: 'bucket', key }, Buffer.from(''), {});
    expect(seen.map(({ url }) => url)).toEqual([
      '/bucket/a/../b',
      '/bucket/./c',
      '/bucket/a//b',
      '/bucket/a%20b%2Bc%2541%3F',
    ]);
  });

  it('names the bucket in the host, or not at all where a domain is bound to it', async () => {
    const virtual = await against([{ status: 404 }], { addressing: 'virtual-host' });
    await virtual.store.head(object);
    expect(virtual.seen[0]).toMatchObject({
      url: '/dir/a',
      headers: { host: 'bucket.oss-cn-hangzhou.aliyuncs.com' },
    });
    const cname = await against([{ status: 404 }], { addressing: 'cname' });
    await cname.store.head(object);
    expect(cname.seen[0]!.url).toBe('/dir/a');
    expect(cname.seen[0]!.headers.host).toMatch(/^127\.0\.0\.1:/);
  });

  it('signs by the clock that it is given, and each request with its own keys', async () => {
    const { endpoint, seen, stop } = await startScriptedServer([
      { status: 404, headers: { date: 'Sat, 03 Feb 2001 04:05:06 GMT' } },
    ]);
    const clock = Object.assign(new SystemClock(), { nowMs: () => Date.UTC(2001, 1, 3, 4, 5, 6) });
    let issued = 0;
    const store = new OssObjectStore(
      {
        ...{ region: 'cn-hangzhou', endpoint, addressing: 'path' },
        credentials: {
          ...{ kind: 'sts', roleArn: 'acs:ram::1:role/x', sessionName: 'x', durationSeconds: 900 },
          source: { accessKeyId: 'id', accessKeySecret: 'secret' },
        },
      },
      clock,
      () => {
        issued++;
        const keys = { accessKeyId: `STS.${issued}`, accessKeySecret: 's', securityToken: `token-${issued}` };
        // They end at once: the next request has others.
        return Promise.resolve({ ...keys, expiration: new Date(clock.nowMs()) });
      },
    );
    stops.push(() => store.close(), stop);
    await Promise.all([store.head(object), store.head(object)]);
    await store.head(object);
    expect(seen.map(({ headers }) => headers['x-oss-date'])).toEqual(seen.map(() => '20010203T040506Z'));
    for (const { headers } of seen) {
      const [, token = ''] = /^token-(\d)$/.exec(String(headers['x-oss-security-token'])) ?? [];
      expect(headers.authorization).toContain(`Credential=STS.${token}/20010203/cn-hangzhou/oss/`);
    }
    expect(new Set(seen.map(({ headers }) => headers['x-oss-security-token'])).size).toBe(2);
  });

  it.each(['v4', 'v1'] as const)(
    'a Complete that pauses 35 s after its head tells nothing of the time: what is signed next lives its 30 s, %s',
    async (signature) => {
      let nowMs = Date.UTC(2026, 10, 30, 12);
      const date = (): string => new Date(nowMs).toUTCString();
      const clock = Object.assign(new SystemClock(), { nowMs: () => nowMs });
      const headers = { date: date() };
      let beingRead = (): void => undefined;
      const bodyMayCome = new Promise<void>((resolve) => (beingRead = resolve));
      const body = '<CompleteMultipartUploadResult><ETag>"E"</ETag></CompleteMultipartUploadResult>';
      const server = await startScriptedServer([
        { status: 200, headers, body, pause: () => bodyMayCome },
        { status: 200, headers: { etag: '"E"' } },
      ]);
      const store = new OssObjectStore(
        {
          ...{ region: 'cn-hangzhou', endpoint: server.endpoint, addressing: 'path', signature },
          credentials: { kind: 'static', accessKeyId: 'id', accessKeySecret: 'secret' },
        },
        clock,
      );
      stops.push(
        () => store.close(),
        () => server.stop(),
      );
      const complete = store.complete(upload, parts, {});
      while (server.seen.length === 0) await delay(5);
      // The head arrives.
      await delay(100);
      nowMs += 35_000;
      beingRead();
      await complete;
      await store.sendPut(await store.preparePut(object, {}, 30), Buffer.from('x'));
      const query = new URL(server.seen[1]!.url, 'http://host').searchParams;
      const untilMs =
        signature === 'v1'
          ? Number(query.get('Expires')) * 1_000
          : basicTime(query.get('x-oss-date')) + Number(query.get('x-oss-expires')) * 1_000;
      expect(untilMs).toBe(nowMs + 30_000);
    },
  );

  it('signs with the time of the store once it knows it', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const skewed = { status: 403, headers: { date }, body: errorXml('RequestTimeTooSkewed') };
    const { store, seen } = await against([skewed, { status: 404, headers: { date } }]);
    await expect(store.get(object)).rejects.toMatchObject({ kind: 'unavailable' });
    await store.head(object);
    const day = (index: number): number => basicTime(seen[index]!.headers['x-oss-date']);
    expect(day(1) - day(0)).toBeGreaterThan(3_500_000);
  });
});
