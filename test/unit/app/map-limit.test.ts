import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { JoinedCalls } from '../../../src/app/joined-calls.js';
import { allDone, mapLimit } from '../../../src/app/map-limit.js';

describe('mapLimit', () => {
  it('keeps order and the limit', async () => {
    let running = 0;
    let most = 0;
    const results = await mapLimit([5, 1, 4, 2, 3], 2, async (item) => {
      most = Math.max(most, ++running);
      await sleep(item);
      running--;
      return item * 10;
    });
    expect(results).toEqual([50, 10, 40, 20, 30]);
    expect(most).toBe(2);
  });

  it('begins nothing after the first error, waits for what runs, and throws the first', async () => {
    const begun: number[] = [];
    let over = 0;
    const failing = mapLimit([1, 2, 3, 4, 5, 6], 2, async (item) => {
      begun.push(item);
      await sleep(item === 1 ? 5 : 20);
      over++;
      if (item <= 2) throw new Error(`no ${item}`);
    });
    await expect(failing).rejects.toThrow('no 1');
    expect([begun, over]).toEqual([[1, 2], 2]);
  });

  it('takes nothing, and async sources that fail', async () => {
    expect(await mapLimit([], 4, () => Promise.resolve(1))).toEqual([]);
    async function* broken(): AsyncGenerator<number> {
      yield 1;
      await sleep(1);
      throw new Error('source');
    }
    await expect(mapLimit(broken(), 4, (item) => Promise.resolve(item))).rejects.toThrow('source');
  });
});

describe('JoinedCalls', () => {
  it('joins duplicates that run, whatever their end, and runs anew after it', async () => {
    const joined = new JoinedCalls();
    let runs = 0;
    const work = async (): Promise<number> => {
      await sleep(5);
      if (++runs === 1) throw new Error('first');
      return runs;
    };
    const both = await Promise.allSettled([joined.run('a', work), joined.run('a', work)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(
      await Promise.all([joined.run('a', work), joined.run('a', work), joined.run('b', work)]),
    ).toHaveLength(3);
    expect(runs).toBe(3);
  });
});

describe('allDone', () => {
  it('gives both results', async () => {
    expect(await allDone(1, Promise.resolve('a'))).toEqual([1, 'a']);
  });

  it('fails with the first error, once the other has come to its end', async () => {
    let end = (): void => undefined;
    const slow = new Promise<void>((resolve) => (end = resolve));
    let isOver = false;
    const both = allDone(Promise.reject(new Error('first')), slow).catch((error: unknown) => {
      isOver = true;
      return error;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    end();
    expect(await both).toMatchObject({ message: 'first' });
  });
});
