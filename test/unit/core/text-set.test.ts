import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextSet } from '../../../src/core/text-set.js';

describe('TextSet', () => {
  it('has what was added, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (added, others) => {
        const set = new TextSet();
        for (const text of added) set.add(text);
        const expected = new Set(added);
        expect(set.size).toBe(expected.size);
        for (const text of [...added, ...others]) expect(set.has(text)).toBe(expected.has(text));
      }),
    );
  });

  it('keeps all while it grows', () => {
    const set = new TextSet();
    for (let i = 0; i < 20_000; i++) set.add(`text ${i}`);
    expect(set.size).toBe(20_000);
    for (let i = 0; i < 20_000; i++) if (!set.has(`text ${i}`)) expect.fail(`text ${i} is lost`);
    for (let i = 20_000; i < 40_000; i++) if (set.has(`text ${i}`)) expect.fail(`text ${i} was never added`);
  });
});
