import { describe, expect, it } from 'vitest';
import { RetryingStore } from '../../../src/adapters/decorators/retrying-store.js';
import type { RetryOptions } from '../../../src/adapters/decorators/retrying-store.js';
import type { StoreErrorKind } from '../../../src/ports/object-store.js';
import { RecordedMetrics, ScriptedStore } from './scripted-store.js';
import type { Step } from './scripted-store.js';
import { VirtualClock, settle } from './virtual-clock.js';

const object = { bucket: 'b', key: 'k' };
const body = Buffer.from('x');

function retrying(script: Step[], options: Partial<RetryOptions> = {}, fraction = 1) {
  const inner = new ScriptedStore(script);
  const clock = new VirtualClock();
  const metrics = new RecordedMetrics();
  const store = new RetryingStore(
    inner,
    { attempts: 5, baseDelayMs: 100, maxDelayMs: 1_000, ...options },
    { store: 's', clock, random: { fraction: () => fraction }, metrics },
  );
  return { inner, clock, metrics, store };
}

function times(count: number, fail: StoreErrorKind): Step[] {
  return Array.from({ length: count }, () => ({ fail }));
}

describe('RetryingStore', () => {
  it.each(['throttled', 'unavailable', 'timeout'] as const)('repeats after %s', async (fail) => {
    const { inner, clock, metrics, store } = retrying(times(2, fail));
    const put = store.put(object, body, {});
    await clock.advance(10_000);
    await put;
    expect(inner.seen).toEqual(['put', 'put', 'put']);
    expect(metrics.counts.get(`commitbridge_store_retries_total{store=s,op=put,reason=${fail}}`)).toBe(2);
  });

  it.each([
    'not-found',
    'no-such-upload',
    'no-such-bucket',
    'precondition-failed',
    'conflict',
    'invalid-parts',
    'key-too-long',
    'access-denied',
    'cancelled',
    'unsupported',
    'invalid',
  ] as const)('does not repeat after %s', async (fail) => {
    const { inner, store } = retrying(times(1, fail));
    await expect(store.put(object, body, {})).rejects.toMatchObject({ kind: fail });
    expect(inner.seen).toHaveLength(1);
  });

  it('waits up to twice as long each time, and up to a limit', async () => {
    const { clock, store } = retrying(times(6, 'unavailable'), { attempts: 7 });
    const put = store.put(object, body, {});
    await clock.advance(60_000);
    await put;
    expect(clock.sleeps).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it('waits a random part of it', async () => {
    const { clock, store } = retrying(times(2, 'unavailable'), {}, 0.25);
    const put = store.put(object, body, {});
    await clock.advance(60_000);
    await put;
    expect(clock.sleeps).toEqual([25, 50]);
  });

  it('waits as long as the store asked for', async () => {
    const { clock, store } = retrying([{ fail: 'throttled', retryAfterMs: 7_000 }]);
    const put = store.put(object, body, {});
    await clock.advance(60_000);
    await put;
    expect(clock.sleeps).toEqual([7_000]);
  });

  it('gives up after its attempts, with the last error', async () => {
    const { inner, clock, store } = retrying(times(9, 'throttled'), { attempts: 3 });
    const put = expect(store.put(object, body, {})).rejects.toMatchObject({ kind: 'throttled' });
    await clock.advance(60_000);
    await put;
    expect(inner.seen).toHaveLength(3);
  });

  it('goes on beyond its attempts where the call is patient, and gives up when that is over', async () => {
    const { inner, clock, store } = retrying(times(30, 'throttled'), { attempts: 3 });
    const patient = expect(store.put(object, body, {}, { patienceMs: 10_000 })).rejects.toMatchObject({
      kind: 'throttled',
    });
    await clock.advance(60_000);
    await patient;
    const waited = clock.sleeps.reduce((sum, ms) => sum + ms, 0);
    expect([inner.seen.length > 10, waited > 8_500, waited <= 10_000]).toEqual([true, true, true]);
    const cured = retrying(times(9, 'throttled'), { attempts: 3 });
    const complete = cured.store.put(object, body, {}, { patienceMs: 10_000 });
    await cured.clock.advance(60_000);
    await complete;
    expect(cured.inner.seen).toHaveLength(10);
  });

  it('gives up where the next attempt would be too late', async () => {
    const { inner, clock, store } = retrying(times(9, 'unavailable'), { attempts: 9, maxTotalMs: 700 });
    const put = expect(store.put(object, body, {})).rejects.toMatchObject({ kind: 'unavailable' });
    await clock.advance(60_000);
    await put;
    expect(inner.seen).toHaveLength(4); // at 0, 100, 300 and 700 ms
  });

  it('tries once more with fresh credentials, and without a wait', async () => {
    const { inner, clock, store } = retrying(times(1, 'expired-credentials'));
    await store.put(object, body, {});
    expect(inner.seen).toHaveLength(2);
    expect(clock.sleeps).toEqual([]);
  });

  it('tries once only with fresh credentials', async () => {
    const { inner, store } = retrying(times(2, 'expired-credentials'));
    await expect(store.put(object, body, {})).rejects.toMatchObject({ kind: 'expired-credentials' });
    expect(inner.seen).toHaveLength(2);
  });

  it('does not repeat what was signed before with credentials that have ended', async () => {
    for (const send of [
      async (store: RetryingStore) => store.sendPut(await store.preparePut(object, {}, 30), body),
      async (store: RetryingStore) => store.sendDelete(await store.prepareDelete(object, 30)),
    ]) {
      const { inner, store } = retrying(times(1, 'expired-credentials'));
      await expect(send(store)).rejects.toMatchObject({ kind: 'expired-credentials' });
      expect(inner.seen).toHaveLength(1);
    }
  });

  it('marks an error that may be the answer to its own success', async () => {
    const { clock, store } = retrying([{ fail: 'unavailable', after: true }]);
    const put = expect(store.put(object, body, { ifNoneMatch: '*' })).rejects.toMatchObject({
      kind: 'precondition-failed',
      details: { status: 412, afterAmbiguousAttempt: true },
    });
    await clock.advance(1_000);
    await put;
  });

  it('does not mark an error of the first attempt', async () => {
    const { store } = retrying(times(1, 'precondition-failed'));
    const error: unknown = await store.put(object, body, {}).catch((thrown: unknown) => thrown);
    expect(error).not.toHaveProperty('details.afterAmbiguousAttempt');
  });

  it('counts uploads that a repeated initiate may have left behind', async () => {
    const { inner, clock, metrics, store } = retrying([
      { fail: 'timeout', after: true },
      { fail: 'throttled' },
    ]);
    const initiate = store.initiate(object, {});
    await clock.advance(10_000);
    await initiate;
    expect(inner.memory.uploads()).toHaveLength(2);
    expect(metrics.counts.get('commitbridge_store_uploads_maybe_orphaned_total{store=s}')).toBe(1);
  });

  it('says absent where an earlier attempt has aborted', async () => {
    const { clock, store } = retrying(['pass', { fail: 'timeout', after: true }]);
    const uploadId = await store.initiate(object, {});
    const abort = store.abort({ ...object, uploadId });
    await clock.advance(1_000);
    await expect(abort).resolves.toBe('absent');
  });

  it('ends a wait when its caller cancels', async () => {
    const { inner, clock, store } = retrying(times(3, 'unavailable'));
    const controller = new AbortController();
    const put = store.put(object, body, {}, { signal: controller.signal });
    const ended = expect(put).rejects.toMatchObject({
      kind: 'cancelled',
      details: { afterAmbiguousAttempt: true },
    });
    await settle();
    controller.abort();
    await ended;
    expect(inner.seen).toHaveLength(1);
    expect(clock.sleeping).toBe(0);
  });

  it('ends within the time of the call, waits and all', async () => {
    const { inner, clock, store } = retrying(times(9, 'unavailable'), { attempts: 9 });
    const put = store.put(object, body, {}, { withinMs: 650 });
    const ended = expect(put).rejects.toMatchObject({ kind: 'timeout' });
    await clock.advance(60_000);
    await ended;
    expect(inner.seen).toHaveLength(3); // at 0, 100 and 300 ms; the next would be at 700 ms
    expect(clock.sleeping).toBe(0);
  });

  it('cancels the request that is under way when the time of the call is over', async () => {
    const { inner, clock, store } = retrying(['hang']);
    const put = store.put(object, body, {}, { withinMs: 650 });
    const ended = expect(put).rejects.toMatchObject({ kind: 'timeout' });
    await clock.advance(649);
    expect(inner.underWay).toBe(1);
    await clock.advance(1);
    await ended;
    expect(inner.underWay).toBe(0);
  });
});
