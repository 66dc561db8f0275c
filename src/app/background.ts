import type { Logger } from '../ports/logger.js';

/** Work that no caller waits for. A failure is logged: whatever it did not do, a later call or `gc` does. */
export class Background {
  readonly #running = new Set<Promise<void>>();

  constructor(private readonly logger: Logger) {}

  start(what: string, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        this.logger.warn('background work failed', { what, error });
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Until everything that was started has ended. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
