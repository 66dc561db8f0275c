import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryObjectStore } from '../../../src/adapters/memory/memory-object-store.js';
import { existingKeys } from '../../../src/app/existing-keys.js';
import { SortedKeys } from '../../../src/app/sorted-keys.js';

const bucket = 'b';
const key = fc.string({
  unit: fc.constantFrom('a', 'b', '/', '0', '9', '-', 'é', '\uffff', '😀', '💣'),
  minLength: 1,
  maxLength: 5,
});

async function storeWith(keys: readonly string[]): Promise<MemoryObjectStore> {
  const store = new MemoryObjectStore({ buckets: [bucket] });
  for (const name of keys) await store.put({ bucket, key: name }, Buffer.from('x'), {});
  return store;
}

/** Of a few keys a run, so that they are packed. */
function sorted(keys: readonly string[]): SortedKeys {
  const sortedKeys = new SortedKeys(3);
  for (const name of keys) sortedKeys.add(name);
  return sortedKeys;
}

describe('existingKeys', () => {
  it('finds exactly the keys that hold an object, whatever else is there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(key), fc.uniqueArray(key), async (there, wanted) => {
        const store = await storeWith(there);
        const expected = wanted.filter((name) => there.includes(name)).sort();
        expect([...(await existingKeys(store, bucket, sorted(wanted)))].sort()).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('walks past more objects than a page holds', async () => {
    const there = Array.from({ length: 2_500 }, (_, i) => `t/part-${String(i).padStart(5, '0')}`);
    const store = await storeWith(there);
    const wanted = ['t/part-00000', 't/part-01999', 't/part-02500', 't/part-99999', 't/zzz'];
    expect(await existingKeys(store, bucket, sorted(wanted))).toEqual(['t/part-00000', 't/part-01999']);
  });

  it('asks for few pages where the destination is full of other objects', async () => {
    const there = Array.from({ length: 5_000 }, (_, i) => `t/old-${String(i).padStart(5, '0')}`);
    const store = await storeWith(there);
    let requests = 0;
    const counted = new Proxy(store, {
      get(target, name) {
        if (name === 'list' || name === 'head') requests++;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    const wanted = Array.from({ length: 50 }, (_, i) => `t/part-${i}`);
    expect(await existingKeys(counted, bucket, sorted(wanted))).toEqual([]);
    expect(requests).toBeLessThanOrEqual(3);
  });
});
