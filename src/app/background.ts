import { setMaxListeners } from 'node:events';
import type { Logger } from '../ports/logger.js';

/** Work that no caller waits for. A failure is logged: whatever it did not do, a later call or `gc` does. */
export class Background {
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(private readonly logger: Logger) {
    // As many jobs wait for it as have ended within a minute.
    setMaxListeners(0, this.#closing.signal);
  }

  /** The signal ends waits when the daemon closes; what was put off is left to a later call or `gc`. */
  start(what: string, work: (closing: AbortSignal) => Promise<void>): void {
    const running = work(this.#closing.signal)
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.logger.warn('background work failed', { what, error });
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Ends waits and lets the rest come to its end. */
  close(): Promise<void> {
    this.#closing.abort();
    return this.idle();
  }

  /** Until everything that was started has ended. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
