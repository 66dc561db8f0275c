import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SortedKeys } from '../../../src/app/sorted-keys.js';

const key = fc.string({
  unit: fc.constantFrom('a', 'b', '/', '0', '"', '\\', 'é', '\uffff', '😀', '💣'),
  minLength: 1,
  maxLength: 6,
});

async function read(keys: SortedKeys): Promise<string[]> {
  const all: string[] = [];
  for await (const block of keys.blocks()) {
    expect(block).not.toEqual([]);
    all.push(...block);
  }
  return all;
}

const inBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('SortedKeys', () => {
  it('gives all keys in the order of listings, whatever the length of its runs, twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(key, { maxLength: 60 }),
        fc.integer({ min: 1, max: 70 }),
        async (keys, run) => {
          const sorted = new SortedKeys(run);
          for (const each of keys) sorted.add(each);
          const expected = [...keys].sort(inBytes);
          expect(sorted.size).toBe(keys.length);
          expect(await read(sorted)).toEqual(expected);
          expect(await read(sorted)).toEqual(expected);
          expect(keys.every((each) => each.startsWith(sorted.commonPrefix))).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('knows the longest prefix that all keys have, and cuts no character in two', async () => {
    const sorted = new SortedKeys(2);
    expect(sorted.commonPrefix).toBe('');
    for (const each of ['t/a/1', 't/a/2', 't/a/10']) sorted.add(each);
    expect(sorted.commonPrefix).toBe('t/a/');
    for (const each of ['t/\u{1f600}', 't/\u{1f601}']) sorted.add(each);
    expect(sorted.commonPrefix).toBe('t/');
    expect(await read(sorted)).toHaveLength(5);
  });

  it('merges runs of many blocks', async () => {
    const keys = Array.from({ length: 10_000 }, (_, i) => `t/part-${(i * 7_919) % 10_000}-c000.parquet`);
    const sorted = new SortedKeys(2_500);
    for (const each of keys) sorted.add(each);
    expect(await read(sorted)).toEqual([...keys].sort(inBytes));
  });
});
