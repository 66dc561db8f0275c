import type { Random } from '../../src/ports/clock.js';

/** mulberry32: small, good enough to vary schedules, and the same for the same seed. */
export class SeededRandom implements Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => Math.floor(this.fraction() * 256));
  }

  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }
}
