import { randomBytes } from 'node:crypto';
import type { Random } from '../../ports/clock.js';

export class SystemRandom implements Random {
  bytes(length: number): Uint8Array {
    return randomBytes(length);
  }

  fraction(): number {
    return Math.random();
  }
}
