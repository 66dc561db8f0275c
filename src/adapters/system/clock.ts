import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../ports/clock.js';

/** This machine's clock. With {@link SystemRandom} the only place that reads time or makes timers. */
export class SystemClock implements Clock {
  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    try {
      await delay(ms, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      // Node rejects with an AbortError of its own; the port promises the signal's reason.
      signal?.throwIfAborted();
      throw error;
    }
  }

  after(ms: number, run: () => void): () => void {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  }
}
