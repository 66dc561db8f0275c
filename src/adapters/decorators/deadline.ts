import type { Clock } from '../../ports/clock.js';
import type { CallOptions } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';

/**
 * Runs a call that must end in this time. When it is over the call's signal fires, and the caller hears `timeout`
 * at once, whether or not the call takes notice.
 */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  call: CallOptions,
  run: (call: CallOptions) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const over = new AbortController();
  const signal = call.signal === undefined ? over.signal : AbortSignal.any([call.signal, over.signal]);
  const timer = clock.sleep(ms, ended.signal).then(
    () => {
      const error = new StoreError('timeout', `no answer in time: after_ms=${ms}`);
      over.abort(error);
      throw error;
    },
    // The call came first; this promise has lost the race and means nothing.
    () => undefined as never,
  );
  const answer = run({ ...call, signal });
  // Whichever loses may still fail later, with nobody waiting for it.
  answer.catch(() => undefined);
  timer.catch(() => undefined);
  try {
    return await Promise.race([answer, timer]);
  } catch (error) {
    // The call may notice its signal before the race notices the timer.
    if (over.signal.aborted && call.signal?.aborted !== true) throw over.signal.reason;
    throw error;
  } finally {
    ended.abort();
  }
}
