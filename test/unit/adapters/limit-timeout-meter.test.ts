import { buffer } from 'node:stream/consumers';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { decorate } from '../../../src/adapters/decorators/decorate.js';
import { LimitedStore } from '../../../src/adapters/decorators/limited-store.js';
import { MeteredStore } from '../../../src/adapters/decorators/metered-store.js';
import { TimeoutStore } from '../../../src/adapters/decorators/timeout-store.js';
import { RecordedMetrics, ScriptedStore } from './scripted-store.js';
import { VirtualClock, settle } from './virtual-clock.js';

const object = { bucket: 'b', key: 'k' };
const upload = { ...object, uploadId: 'u' };
const body = Buffer.from('x');
const times = { requestMs: 30_000, completeMs: 300_000 };

function swallow(promise: Promise<unknown>): void {
  promise.catch(() => undefined);
}

describe('LimitedStore', () => {
  it('lets only so many requests be under way', async () => {
    const inner = new ScriptedStore(Array.from({ length: 9 }, () => 'hang' as const));
    const store = new LimitedStore(inner, { requests: 3, transfers: 1 });
    for (let i = 0; i < 9; i += 1) swallow(store.head(object));
    await settle();
    expect(inner.underWay).toBe(3);
  });

  it('serves those who wait in their order', async () => {
    const inner = new ScriptedStore();
    const store = new LimitedStore(inner, { requests: 1, transfers: 1 });
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4, 5].map((n) => store.head(object).then(() => order.push(n))));
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  it('gives the slot back when a request fails', async () => {
    const inner = new ScriptedStore([{ fail: 'unavailable' }, { fail: 'access-denied' }]);
    const store = new LimitedStore(inner, { requests: 1, transfers: 1 });
    await expect(store.head(object)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(store.head(object)).rejects.toMatchObject({ kind: 'access-denied' });
    await expect(store.head(object)).resolves.toBeUndefined();
  });

  it('is lowered when the store throttles, once for all that were under way, and grows again by successes', async () => {
    const throttled = Array.from({ length: 8 }, () => ({ fail: 'throttled' as const }));
    const hangs = (count: number) => Array.from({ length: count }, () => 'hang' as const);
    const widthAfter = async (script: ConstructorParameters<typeof ScriptedStore>[0], successes: number) => {
      const inner = new ScriptedStore(script);
      const store = new LimitedStore(inner, { requests: 16, transfers: 1 });
      await Promise.all(Array.from({ length: 8 }, () => store.head(object).catch(() => undefined)));
      for (let i = 0; i < successes; i += 1) await store.head(object);
      for (let i = 0; i < 30; i += 1) swallow(store.head(object));
      await settle();
      return inner.underWay;
    };
    const answers = (count: number) => Array.from({ length: count }, () => 'pass' as const);
    expect(await widthAfter([...answers(8), ...hangs(30)], 0)).toBe(16);
    expect(await widthAfter([...throttled, ...hangs(30)], 0)).toBe(7);
    expect(await widthAfter([...throttled, ...answers(7), ...hangs(30)], 7)).toBe(7);
    expect(await widthAfter([...throttled, ...answers(8), ...hangs(30)], 8)).toBe(8);
    expect(await widthAfter([...throttled, ...answers(500), ...hangs(30)], 500)).toBe(16);
  });

  it('never goes below one request at a time', async () => {
    const inner = new ScriptedStore([...Array.from({ length: 20 }, () => ({ fail: 'throttled' as const }))]);
    const store = new LimitedStore(inner, { requests: 16, transfers: 1 });
    for (let i = 0; i < 20; i += 1) {
      await expect(store.head(object)).rejects.toMatchObject({ kind: 'throttled' });
    }
    await expect(store.head(object)).resolves.toBeUndefined();
  });

  it('does not send what was cancelled in the queue, and serves the next', async () => {
    const inner = new ScriptedStore(['hang']);
    const store = new LimitedStore(inner, { requests: 1, transfers: 1 });
    const first = new AbortController();
    swallow(store.head(object, { signal: first.signal }));
    const second = new AbortController();
    const cancelled = expect(store.head(object, { signal: second.signal })).rejects.toMatchObject({
      kind: 'cancelled',
    });
    const third = store.head(object);
    second.abort();
    await cancelled;
    expect(inner.seen).toHaveLength(1);
    first.abort();
    await expect(third).resolves.toBeUndefined();
    expect(inner.seen).toHaveLength(2);
  });

  it('keeps parts from holding up small requests', async () => {
    const inner = new ScriptedStore(['hang', 'pass']);
    const store = new LimitedStore(inner, { requests: 1, transfers: 1 });
    swallow(store.uploadPart(upload, 1, body));
    await expect(store.head(object)).resolves.toBeUndefined();
  });

  it('keeps the slot of a stream until it is read or left', async () => {
    const inner = new ScriptedStore();
    await inner.put(object, Buffer.alloc(1_000_000), {});
    const store = new LimitedStore(inner, { requests: 1, transfers: 1 });
    const first = await store.getStream(object);
    const second = store.getStream(object);
    await settle();
    expect(inner.seen.filter((kind) => kind === 'get_stream')).toHaveLength(1);
    first.destroy();
    expect(await buffer(await second)).toHaveLength(1_000_000);
    await buffer(await store.getStream(object));
  });
});

describe('TimeoutStore', () => {
  it('ends a request that takes too long, by timeout', async () => {
    const clock = new VirtualClock();
    const inner = new ScriptedStore(['hang']);
    const head = expect(new TimeoutStore(inner, times, clock).head(object)).rejects.toMatchObject({
      kind: 'timeout',
    });
    await clock.advance(29_999);
    expect(inner.underWay).toBe(1);
    await clock.advance(1);
    await head;
    expect(inner.underWay).toBe(0);
    expect(inner.signals[0]?.aborted).toBe(true);
  });

  it('leaves no timer behind', async () => {
    const clock = new VirtualClock();
    const store = new TimeoutStore(new ScriptedStore(['pass', { fail: 'unavailable' }]), times, clock);
    await store.head(object);
    await expect(store.head(object)).rejects.toMatchObject({ kind: 'unavailable' });
    await settle();
    expect(clock.sleeping).toBe(0);
  });

  it('gives a Complete its own time, and a part more by its size', async () => {
    const clock = new VirtualClock();
    const store = new TimeoutStore(
      new ScriptedStore(['hang', 'hang']),
      { ...times, minBytesPerSecond: 1_000 },
      clock,
    );
    swallow(store.complete(upload, [], {}));
    swallow(store.uploadPart(upload, 1, Buffer.alloc(5_000)));
    await settle();
    expect(clock.sleeps).toEqual([300_000, 35_000]);
  });

  it('says cancelled where the caller cancels', async () => {
    const clock = new VirtualClock();
    const store = new TimeoutStore(new ScriptedStore(['hang']), times, clock);
    const controller = new AbortController();
    const head = expect(store.head(object, { signal: controller.signal })).rejects.toMatchObject({
      kind: 'cancelled',
    });
    await settle();
    controller.abort();
    await head;
  });

  it('refuses a time that the protocol does not count on', () => {
    expect(
      () => new TimeoutStore(new ScriptedStore(), { ...times, requestMs: 45_001 }, new VirtualClock()),
    ).toThrow(RangeError);
  });

  it('breaks a stream that brings no bytes in time', async () => {
    const clock = new VirtualClock();
    const inner = new ScriptedStore();
    const source = new PassThrough();
    inner.memory.getStream = () => Promise.resolve(source);
    const stream = await new TimeoutStore(inner, times, clock).getStream(object);
    const read = expect(buffer(stream)).rejects.toMatchObject({ kind: 'timeout' });
    source.write('some');
    await clock.advance(29_000);
    source.write('more');
    await clock.advance(29_000);
    expect(source.destroyed).toBe(false);
    await clock.advance(1_000);
    await read;
    expect(source.destroyed).toBe(true);
  });

  it('breaks a stream that breaks below, and passes one on that does not', async () => {
    const clock = new VirtualClock();
    const inner = new ScriptedStore();
    const store = new TimeoutStore(inner, times, clock);
    await inner.put(object, Buffer.alloc(300_000, 7), {});
    expect((await buffer(await store.getStream(object))).equals(Buffer.alloc(300_000, 7))).toBe(true);
    await settle();
    expect(clock.sleeping).toBe(0);
    const source = new PassThrough();
    inner.memory.getStream = () => Promise.resolve(source);
    const read = expect(buffer(await store.getStream(object))).rejects.toMatchObject({ kind: 'unavailable' });
    source.destroy();
    await read;
  });
});

describe('MeteredStore', () => {
  it('counts requests by kind and result, and takes their time', async () => {
    const clock = new VirtualClock();
    const metrics = new RecordedMetrics();
    const inner = new ScriptedStore(['pass', { fail: 'throttled' }]);
    const store = new MeteredStore(inner, { store: 's', clock, metrics });
    await store.head(object);
    await expect(store.put(object, body, {})).rejects.toMatchObject({ kind: 'throttled' });
    await expect(store.getStream(object)).rejects.toMatchObject({ kind: 'not-found' });
    await expect(store.get(object)).resolves.toBeUndefined();
    expect(Object.fromEntries(metrics.counts)).toEqual({
      'commitbridge_store_requests_total{store=s,op=head,result=ok}': 1,
      'commitbridge_store_requests_total{store=s,op=put,result=throttled}': 1,
      'commitbridge_store_requests_total{store=s,op=get,result=not-found}': 2,
    });
    expect(metrics.observed.get('commitbridge_store_request_duration_seconds{store=s,op=head}')).toEqual([0]);
  });
});

describe('decorate', () => {
  it('counts each attempt without its time in the queue, and a timeout as one', async () => {
    const clock = new VirtualClock();
    const metrics = new RecordedMetrics();
    const inner = new ScriptedStore(['hang', 'hang']);
    const store = decorate(inner, {
      name: 's',
      clock,
      random: { fraction: () => 0 },
      metrics,
      retry: { attempts: 2, baseDelayMs: 1, maxDelayMs: 1 },
      limit: { requests: 1, transfers: 1 },
      timeout: times,
    });
    const first = store.head(object);
    await settle();
    const second = expect(store.put(object, body, {}, { withinMs: 31_000 })).rejects.toMatchObject({
      kind: 'timeout',
    });
    await clock.advance(30_000); // head times out and queues again behind put, which hangs
    await clock.advance(1_000); // put's time is over, 30 s of it in the queue
    await second;
    await clock.advance(1);
    await expect(first).resolves.toBeUndefined();
    expect(inner.seen).toEqual(['head', 'put', 'head']);
    expect(Object.fromEntries(metrics.counts)).toEqual({
      'commitbridge_store_requests_total{store=s,op=head,result=timeout}': 1,
      'commitbridge_store_retries_total{store=s,op=head,reason=timeout}': 1,
      'commitbridge_store_requests_total{store=s,op=put,result=cancelled}': 1,
      'commitbridge_store_requests_total{store=s,op=head,result=ok}': 1,
    });
    expect(metrics.observed.get('commitbridge_store_request_duration_seconds{store=s,op=put}')).toEqual([1]);
  });
});
