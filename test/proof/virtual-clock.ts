import type { Clock } from '../../src/ports/clock.js';

/** One timeline for a whole simulated world; it moves only when nothing else can. */
export class VirtualTime {
  nowMs = 1_700_000_000_000;
  /** Of it no monotonic clock knows, as Linux's doesn't of the time in which a machine is suspended. */
  sleptMs = 0;
  private readonly sleepers: { readonly at: number; readonly seq: number; readonly wake: () => void }[] = [];
  private seq = 0;

  add(at: number, wake: () => void): void {
    this.sleepers.push({ at, seq: this.seq++, wake });
    this.sleepers.sort((a, b) => a.at - b.at || a.seq - b.seq);
  }

  /** Wakes the next sleeper; false where there is none. */
  advance(): boolean {
    const next = this.sleepers.shift();
    if (next === undefined) return false;
    this.nowMs = Math.max(this.nowMs, next.at);
    next.wake();
    return true;
  }
}

/** A daemon's clock: skewed against the others', and dead with it: no sleep of a dead daemon ever ends. */
export class DaemonClock implements Clock {
  constructor(
    private readonly time: VirtualTime,
    private readonly skewMs: number,
    private readonly isDead: () => boolean,
  ) {}

  nowMs(): number {
    return this.time.nowMs + this.skewMs;
  }

  monotonicMs(): number {
    return this.time.nowMs - this.time.sleptMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        if (!this.isDead()) reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.time.add(this.time.nowMs + ms, () => {
        signal?.removeEventListener('abort', onAbort);
        if (!this.isDead()) resolve();
      });
    });
  }

  after(ms: number, run: () => void): () => void {
    let isCalledOff = false;
    this.time.add(this.time.nowMs + ms, () => {
      if (!isCalledOff && !this.isDead()) run();
    });
    return () => {
      isCalledOff = true;
    };
  }
}
