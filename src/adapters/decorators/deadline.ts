import type { Clock } from '../../ports/clock.js';
import type { CallOptions } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';

/**
 * Runs a call that must end in this time. When it is over the call's signal fires, and the caller hears `timeout`
 * at once, whether or not the call takes notice.
 */
export function withDeadline<T>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  call: CallOptions,
  run: (call: CallOptions) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const signal = call.signal === undefined ? over.signal : AbortSignal.any([call.signal, over.signal]);
  return new Promise((resolve, reject) => {
    const callOff = clock.after(ms, () => {
      const timedOut = new StoreError('timeout', `no answer in time: after_ms=${ms}`);
      reject(timedOut);
      over.abort(timedOut);
    });
    // What comes after the deadline finds nobody waiting.
    (async () => run({ ...call, signal }))().then(
      (value) => {
        callOff();
        resolve(value);
      },
      (error: unknown) => {
        callOff();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
