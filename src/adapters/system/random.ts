import { randomBytes } from 'node:crypto';
import type { Random } from '../../ports/clock.js';

/** Asking for a few bytes takes as long as for these. */
const pooledBytes = 1_024;

export class SystemRandom implements Random {
  private pool = Buffer.alloc(0);

  bytes(length: number): Uint8Array {
    if (length > pooledBytes / 8) return randomBytes(length);
    if (this.pool.length < length) this.pool = randomBytes(pooledBytes);
    const taken = Uint8Array.from(this.pool.subarray(0, length));
    // Some become keys: what was given out lies nowhere else.
    this.pool.fill(0, 0, length);
    this.pool = this.pool.subarray(length);
    return taken;
  }

  fraction(): number {
    return Math.random();
  }
}
