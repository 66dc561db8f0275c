import type { Clock } from '../../../src/ports/clock.js';

interface Sleeper {
  readonly wakeAtMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export class VirtualClock implements Clock {
  private timeMs = 0;
  private sleepers: Sleeper[] = [];
  /** The lengths of all sleeps that were asked for. */
  readonly sleeps: number[] = [];

  nowMs(): number {
    return 1_700_000_000_000 + this.timeMs;
  }

  monotonicMs(): number {
    return this.timeMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        this.sleeps.push(ms);
        reject(signal.reason as Error);
        return;
      }
      const callOff = this.after(ms, resolve);
      signal?.addEventListener('abort', () => {
        callOff();
        reject(signal.reason as Error);
      });
    });
  }

  after(ms: number, run: () => void): () => void {
    this.sleeps.push(ms);
    const sleeper: Sleeper = { wakeAtMs: this.timeMs + ms, wake: run };
    this.sleepers.push(sleeper);
    return () => {
      this.sleepers = this.sleepers.filter((other) => other !== sleeper);
    };
  }

  /** How many sleep now: what ended must have given its timer back. */
  get sleeping(): number {
    return this.sleepers.length;
  }

  /** Moves on, waking sleepers in their order. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.timeMs + ms;
    await settle();
    for (;;) {
      const next = this.sleepers
        .filter(({ wakeAtMs }) => wakeAtMs <= untilMs)
        .sort((a, b) => a.wakeAtMs - b.wakeAtMs)[0];
      if (next === undefined) break;
      this.sleepers = this.sleepers.filter((other) => other !== next);
      this.timeMs = next.wakeAtMs;
      next.wake();
      await settle();
    }
    this.timeMs = untilMs;
    await settle();
  }
}

/** Lets everything run that waits for nothing but promises. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
