import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OssDouble, OssDoubleProcess, ossErrorBody } from '../../support/oss-double/index.js';
import { RawClient } from './raw-client.js';

let double: OssDouble;
let client: RawClient;

beforeEach(async () => {
  double = await OssDouble.start({ buckets: ['lake'] });
  client = new RawClient(double);
});

afterEach(async () => {
  await double.stop();
});

const bodyOf = async (key: string): Promise<string | undefined> => {
  const reply = await client.send('GET', key);
  return reply.status === 200 ? reply.body : undefined;
};

describe('faults of the double of OSS', () => {
  it('answers in the store’s stead, before the effect', async () => {
    double.respond({ kind: 'put', times: 1 }, 503, ossErrorBody('ServiceUnavailable', 'Later.'));
    expect(await client.send('PUT', 'a', { body: '1' })).toMatchObject({
      status: 503,
      code: 'ServiceUnavailable',
    });
    expect(await bodyOf('a')).toBeUndefined();
    expect((await client.send('PUT', 'a', { body: '2' })).status).toBe(200);
  });

  it('answers otherwise after the effect, also with an error in a 200', async () => {
    double.on(
      { kind: 'put' },
      { after: () => ({ do: 'respond', status: 200, body: ossErrorBody('InternalError', 'x') }) },
    );
    expect(await client.send('PUT', 'a', { body: '1' })).toMatchObject({
      status: 200,
      code: 'InternalError',
    });
    expect(await bodyOf('a')).toBe('1');
  });

  it('resets the connection before or after the effect', async () => {
    double.dropRequest({ kind: 'put', key: 'before' });
    double.dropReply({ kind: 'put', key: 'after' });
    await expect(client.send('PUT', 'before', { body: '1' })).rejects.toThrow(/hang up|ECONNRESET/);
    await expect(client.send('PUT', 'after', { body: '1' })).rejects.toThrow(/hang up|ECONNRESET/);
    expect([await bodyOf('before'), await bodyOf('after')]).toEqual([undefined, '1']);
  });

  it('holds a request, or its reply', async () => {
    const before = double.holdBefore({ kind: 'put', key: 'a' });
    const late = client.send('PUT', 'a', { body: '1' });
    await before.held;
    expect(await bodyOf('a')).toBeUndefined();
    before.release();
    expect((await late).status).toBe(200);
    const after = double.holdAfter({ kind: 'put', key: 'b' });
    const unanswered = client.send('PUT', 'b', { body: '1' });
    await after.held;
    expect(await bodyOf('b')).toBe('1');
    after.fail(500, ossErrorBody('InternalError', 'x'));
    expect(await unanswered).toMatchObject({ status: 500, code: 'InternalError' });
  });

  it('takes as long as it is told, by kind', async () => {
    double.latencyMs = (kind) => (kind === 'put' ? 150 : 0);
    const timed = async (action: Promise<unknown>): Promise<number> => {
      const started = performance.now();
      await action;
      return performance.now() - started;
    };
    expect(await timed(client.send('PUT', 'a', { body: '1' }))).toBeGreaterThanOrEqual(148);
    expect(double.select({ kind: 'put' })[0]?.durationMs).toBeGreaterThanOrEqual(148);
    await client.send('GET', 'a');
    expect(double.select({ kind: 'get' })[0]?.durationMs).toBeLessThan(148);
  });

  it('refuses what is over the limit of requests a second', async () => {
    let now = 1_800_000_000_000;
    const throttled = await OssDouble.start({ buckets: ['lake'], now: () => now });
    try {
      const raw = new RawClient(throttled);
      const put = async (key: string): Promise<string | undefined> =>
        (await raw.send('PUT', key, { body: '', date: new Date(now) })).code;
      throttled.limitQps({ total: 3 });
      const codes = [await put('a'), await put('a'), await put('a'), await put('a')];
      expect(codes).toEqual([undefined, undefined, undefined, 'TotalQpsLimitExceeded']);
      now += 1000;
      expect(await put('a')).toBeUndefined();
      throttled.limitQps({ perPrefix: 1 });
      expect([await put('x/1'), await put('x/2'), await put('y/1')]).toEqual([
        undefined,
        'QpsLimitExceeded',
        undefined,
      ]);
    } finally {
      await throttled.stop();
    }
  });

  it('counts by kind', async () => {
    const id = await client.initiate('m');
    const part = await client.part('m', id, 1, 'x');
    await client.send('GET', `m?uploadId=${id}`);
    await client.send('GET', '?uploads');
    await client.complete('m', id, [[1, part.headers.etag]]);
    await client.send('DELETE', `m?uploadId=${id}`);
    await client.send('PUT', 'a', { body: '1' });
    await client.send('PUT', 'b', { body: '', headers: { 'x-oss-copy-source': '/lake/a' } });
    for (const method of ['GET', 'HEAD', 'DELETE']) await client.send(method, 'a');
    await client.send('GET', '?list-type=2');
    await client.send('POST', '?delete', { body: '<Delete/>' });
    await client.send('GET', '?versioning');
    const kinds = [
      'initiate',
      'part',
      'complete',
      'abort',
      'put',
      'get',
      'head',
      'list',
      'list_uploads',
      'list_parts',
    ];
    const more = ['delete', 'delete_many', 'copy', 'other'];
    expect(double.counts()).toEqual(Object.fromEntries([...kinds, ...more].map((kind) => [kind, 1])));
  });

  it('says so of what it does not do', async () => {
    for (const target of ['a?append&position=0', 'a?tagging', '?website']) {
      expect(await client.send('POST', target)).toMatchObject({ status: 501, code: 'NotImplemented' });
    }
  });

  it('runs in a process of its own', async () => {
    const other = await OssDoubleProcess.start({ buckets: ['lake'] });
    try {
      const raw = new RawClient(other);
      expect((await raw.send('PUT', 'a', { body: '1' })).status).toBe(200);
      const since = await other.lastSeq();
      expect((await raw.send('GET', 'a')).body).toBe('1');
      expect(await other.counts()).toEqual({ put: 1, get: 1 });
      expect(await other.counts(since)).toEqual({ get: 1 });
      await other.setLatency(150);
      const started = performance.now();
      await raw.send('GET', 'a');
      expect(performance.now() - started).toBeGreaterThanOrEqual(148);
    } finally {
      await other.stop();
    }
  });
});
