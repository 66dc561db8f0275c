import { describe, expect, it } from 'vitest';
import { SystemRandom } from '../../../src/adapters/system/random.js';

describe('SystemRandom', () => {
  it.each([1, 8, 16, 128, 129, 4_096])('gives %i bytes, and never the same', (length) => {
    const random = new SystemRandom();
    const drawn = Array.from({ length: 200 }, () => random.bytes(length));
    expect(drawn.every((bytes) => bytes.length === length)).toBe(true);
    const sum = drawn.flatMap((bytes) => [...bytes]).reduce((a, b) => a + b, 0);
    expect(sum).toBeGreaterThan(0);
    if (length < 8) return;
    expect(new Set(drawn.map((bytes) => Buffer.from(bytes).toString('hex'))).size).toBe(200);
  });

  it('what was given out is not touched again', () => {
    const random = new SystemRandom();
    const first = random.bytes(16);
    const before = Buffer.from(first).toString('hex');
    for (let i = 0; i < 200; i++) random.bytes(16);
    expect(Buffer.from(first).toString('hex')).toBe(before);
  });
});
