import { describe, expect } from 'vitest';
import { compareUtf8 } from '../../src/core/utf8.js';
import { bytes, times } from './expectations.js';
import type { SuiteContext } from './suite-context.js';

const HOUR_MS = 3_600_000;

/** Keys that somebody's encoder or decoder once changed. */
const SPECIAL_KEYS = [
  'percent%',
  'percent%41',
  'percent%2Fslash',
  'plus+plus',
  'and&and',
  'equals=',
  'hash#hash',
  'what?',
  'a space',
  'é',
  'e\u0301',
  '日本',
  '😀',
  "quote's",
  'double"quote',
  '(parens)',
  'bang!',
  'star*',
  'a..b',
  '..a',
  'at@colon:semi;comma,',
  'dollar$',
  'tilde~',
  'back`tick',
  'braces{}[]',
  'caret^pipe|',
  'less<greater>',
  'back\\slash',
  'part=a%3Db/deep/er',
];

/** Listings of objects, and keys as they are. */
export function objectListings(t: SuiteContext): void {
  const { check, place, completed, textOf, listAll } = t;

  describe('list', () => {
    check('list: keys ascend by the bytes of their UTF-8', async () => {
      const objects = place();
      const names = ['a', 'B', 'a-', 'a.b', 'a0', 'é', '日本', '～', '😀', 'Z', '_', '~', 'aa/b', 'aa-'];
      for (const name of names) await t.store.put(objects(name), bytes(name), {});
      const { keys } = await listAll(objects('').key);
      expect(keys).toEqual(names.map((name) => objects(name).key).sort(compareUtf8));
    });

    check('list: key, size, ETag and date of each', async () => {
      const object = place()('a');
      const { etag } = await t.store.put(object, bytes('four'), {});
      const { objects, prefixes, next } = await t.store.list(t.running.bucket, object.key, {});
      expect({ prefixes, next }).toEqual({ prefixes: [], next: undefined });
      expect(objects).toMatchObject([{ key: object.key, etag, sizeBytes: 4 }]);
      expect(Math.abs((objects[0]?.lastModifiedMs ?? 0) - Date.now())).toBeLessThan(HOUR_MS);
    });

    check('list: page by page all of them, each once', async () => {
      const objects = place();
      const names = times(7, (i) => `f-${i}`);
      await Promise.all(names.map((name) => t.store.put(objects(name), bytes(name), {})));
      const { keys, pages } = await listAll(objects('').key, { maxKeys: 3 });
      expect(keys).toEqual(names.map((name) => objects(name).key));
      expect(pages).toBe(3);
    });

    check('list: a full last page has no next', async () => {
      const objects = place();
      await Promise.all(times(4, (i) => t.store.put(objects(`f-${i}`), bytes('x'), {})));
      expect((await listAll(objects('').key, { maxKeys: 2 })).pages).toBe(2);
    });

    check('list: startAfter leaves out up to this key', async () => {
      const objects = place();
      const names = ['a', 'b', 'c', 'd', 'e'];
      for (const name of names) await t.store.put(objects(name), bytes(name), {});
      const after = async (startAfter: string): Promise<string[]> =>
        (await listAll(objects('').key, { startAfter: objects(startAfter).key, maxKeys: 2 })).keys;
      expect(await after('b')).toEqual(['c', 'd', 'e'].map((name) => objects(name).key));
      expect(await after('bb')).toEqual(['c', 'd', 'e'].map((name) => objects(name).key));
      expect(await after('e')).toEqual([]);
    });

    check('list: a delimiter folds what goes on after it', async () => {
      const objects = place();
      const names = ['a', 'b/1', 'b/2/3', 'c/1', 'd'];
      for (const name of names) await t.store.put(objects(name), bytes(name), {});
      const { keys, prefixes } = await listAll(objects('').key, { delimiter: '/' });
      expect(keys).toEqual([objects('a').key, objects('d').key]);
      expect(prefixes).toEqual([objects('b/').key, objects('c/').key]);
    });

    check('list: folded keys page by page, each once', async () => {
      const objects = place();
      for (const name of ['a', 'b/1', 'b/2', 'b/3', 'c/1', 'c/2', 'd', 'e/1']) {
        await t.store.put(objects(name), bytes(name), {});
      }
      for (const maxKeys of [1, 2, 3]) {
        const { keys, prefixes } = await listAll(objects('').key, { delimiter: '/', maxKeys });
        expect(keys).toEqual([objects('a').key, objects('d').key]);
        expect(prefixes).toEqual(['b/', 'c/', 'e/'].map((name) => objects(name).key));
      }
    });

    check('list: a prefix is no folder', async () => {
      const objects = place();
      for (const name of ['nam', 'name-1', 'name-1.x', 'other']) {
        await t.store.put(objects(name), bytes(name), {});
      }
      const { keys } = await listAll(objects('name').key);
      expect(keys).toEqual(['name-1', 'name-1.x'].map((name) => objects(name).key));
      expect((await listAll(objects('zzz').key)).keys).toEqual([]);
    });

    check('list: a key may be the folder of another', async () => {
      const objects = place();
      await t.store.put(objects('fc'), bytes('file'), {});
      await t.store.put(objects('fc/under'), bytes('under'), {});
      await expect(textOf(objects('fc'))).resolves.toBe('file');
      await expect(textOf(objects('fc/under'))).resolves.toBe('under');
    });
  });

  describe('keys are plain text', () => {
    for (const name of [...SPECIAL_KEYS, 'a//b', 'segment-' + 's'.repeat(300)]) {
      check(`key: ${name.slice(0, 30)}`, async () => {
        const objects = place();
        const object = objects(name);
        await t.store.put(object, bytes('put'), {});
        await expect(textOf(object)).resolves.toBe('put');
        expect((await listAll(objects('').key)).keys).toEqual([object.key]);
        await completed(object, bytes('completed'));
        await expect(textOf(object)).resolves.toBe('completed');
        await expect(t.store.head(object)).resolves.toMatchObject({ sizeBytes: 9 });
        await t.store.delete(object, {});
        await expect(t.store.head(object)).resolves.toBeUndefined();
      });
    }

    check('key: an encoded one is another than what it decodes to', async () => {
      const objects = place();
      await t.store.put(objects('x%41'), bytes('encoded'), {});
      await expect(t.store.head(objects('xA'))).resolves.toBeUndefined();
      await t.store.put(objects('xA'), bytes('decoded'), {});
      await expect(textOf(objects('x%41'))).resolves.toBe('encoded');
    });
  });
}
