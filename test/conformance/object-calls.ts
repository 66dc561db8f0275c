import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { bytes, expectKind, expectOneWinner, kindOf, read, times } from './expectations.js';
import type { SuiteContext } from './suite-context.js';

const HOUR_MS = 3_600_000;

/** Whole objects: writing, reading, removing, with conditions and without. */
export function objectCalls(t: SuiteContext): void {
  const { capabilities, check, place, openWithPart, textOf, listAll } = t;

  describe('put, get and head', () => {
    check('put: the object is what was put', async () => {
      const object = place()('a');
      const metadata = { one: '1', two: 'zwei' };
      const { etag } = await t.store.put(object, bytes('hello'), { contentType: 'text/plain', metadata });
      const found = await read(t.store, object);
      expect(Buffer.from(found.body).toString()).toBe('hello');
      expect(found).toMatchObject({ etag, sizeBytes: 5, metadata });
      expect(Math.abs(found.lastModifiedMs - Date.now())).toBeLessThan(HOUR_MS);
      const { body: _, ...head } = found;
      await expect(t.store.head(object)).resolves.toEqual(head);
    });

    check('put: an empty object', async () => {
      const object = place()('a');
      await t.store.put(object, new Uint8Array(), {});
      expect((await read(t.store, object)).body).toHaveLength(0);
    });

    check('put: a large object comes back whole', async () => {
      const object = place()('a');
      const body = randomBytes(9 * 1024 * 1024 + 1);
      await t.store.put(object, body, {});
      expect(body.equals((await read(t.store, object)).body)).toBe(true);
    });

    check('put: reads and listings see each write that was answered', async () => {
      const object = place()('a');
      for (let i = 0; i < 20; i += 1) {
        const { etag } = await t.store.put(object, bytes(`version ${i}`), {});
        await expect(textOf(object)).resolves.toBe(`version ${i}`);
        expect((await t.store.head(object))?.etag).toBe(etag);
        expect((await t.store.list(object.bucket, object.key, {})).objects).toMatchObject([
          { key: object.key, etag },
        ]);
        if (i % 4 !== 3) continue;
        await t.store.delete(object, {});
        await expect(t.store.head(object)).resolves.toBeUndefined();
        await expect(t.store.list(object.bucket, object.key, {})).resolves.toEqual({
          objects: [],
          prefixes: [],
        });
      }
    });

    check('get: undefined where there is none', async () => {
      await expect(t.store.get(place()('a'))).resolves.toBeUndefined();
    });

    check('head: undefined where there is none', async () => {
      await expect(t.store.head(place()('a'))).resolves.toBeUndefined();
    });

    check('getStream: the bytes of the object', async () => {
      const object = place()('a');
      const body = randomBytes(3 * 1024 * 1024 + 1);
      await t.store.put(object, body, {});
      expect((await buffer(await t.store.getStream(object))).equals(body)).toBe(true);
    });

    check('getStream: not-found where there is none', async () => {
      await expectKind(t.store.getStream(place()('a')), 'not-found');
    });

    check('getStream: may be left half-read', async () => {
      const object = place()('a');
      await t.store.put(object, randomBytes(3 * 1024 * 1024), {});
      const stream = await t.store.getStream(object);
      for await (const chunk of stream) {
        expect((chunk as Uint8Array).byteLength).toBeGreaterThan(0);
        break;
      }
      await expect(t.store.head(object)).resolves.toBeDefined();
    });
  });

  describe('put with a condition', () => {
    if (!capabilities.conditionalPut) {
      check('conditional put: unsupported without the capability', async () => {
        const object = place()('a');
        await expectKind(t.store.put(object, bytes('x'), { ifNoneMatch: '*' }), 'unsupported');
      });
      return;
    }

    check('put ifNoneMatch: only where there is none', async () => {
      const object = place()('a');
      await t.store.put(object, bytes('first'), { ifNoneMatch: '*' });
      await expectKind(t.store.put(object, bytes('second'), { ifNoneMatch: '*' }), 'precondition-failed');
      await expect(textOf(object)).resolves.toBe('first');
      await t.store.delete(object, {});
      await t.store.put(object, bytes('third'), { ifNoneMatch: '*' });
      await expect(textOf(object)).resolves.toBe('third');
    });

    check('put ifNoneMatch: of 8 at a time one succeeds', async () => {
      const objects = place();
      for (let round = 0; round < 10; round += 1) {
        const object = objects(`round-${round}`);
        const results = await Promise.allSettled(
          times(8, (i) => t.store.put(object, bytes(`writer ${i}`), { ifNoneMatch: '*' })),
        );
        const winner = expectOneWinner(results, 'precondition-failed', 'conflict');
        await expect(textOf(object)).resolves.toBe(`writer ${winner}`);
      }
    });
  });

  describe('put over an ETag', () => {
    if (!capabilities.conditionalOverwrite) {
      check('put ifMatch: unsupported without the capability', async () => {
        const object = place()('a');
        await expectKind(t.store.put(object, bytes('x'), { ifMatch: '"x"' }), 'unsupported');
        await expect(t.store.head(object)).resolves.toBeUndefined();
      });
      return;
    }

    check('put ifMatch: only over the object with this ETag', async () => {
      const object = place()('a');
      const first = await t.store.put(object, bytes('first'), {});
      const second = await t.store.put(object, bytes('second'), { ifMatch: first.etag });
      await expectKind(t.store.put(object, bytes('third'), { ifMatch: first.etag }), 'precondition-failed');
      await expect(textOf(object)).resolves.toBe('second');
      await t.store.put(object, bytes('fourth'), { ifMatch: second.etag });
      await expect(textOf(object)).resolves.toBe('fourth');
    });

    check('put ifMatch: precondition-failed where there is none', async () => {
      const object = place()('a');
      await expectKind(
        t.store.put(object, bytes('x'), { ifMatch: `"${'0'.repeat(32)}"` }),
        'precondition-failed',
      );
      await expect(t.store.head(object)).resolves.toBeUndefined();
    });

    check('put ifMatch: of 8 at a time one succeeds', async () => {
      const objects = place();
      for (let round = 0; round < 10; round += 1) {
        const object = objects(`round-${round}`);
        const { etag } = await t.store.put(object, bytes('before'), {});
        const results = await Promise.allSettled(
          times(8, (i) => t.store.put(object, bytes(`writer ${i}`), { ifMatch: etag })),
        );
        const winner = expectOneWinner(results, 'precondition-failed', 'conflict');
        await expect(textOf(object)).resolves.toBe(`writer ${winner}`);
      }
    });
  });

  describe('delete', () => {
    check('delete: removes the object, and may be repeated', async () => {
      const object = place()('a');
      await t.store.put(object, bytes('x'), {});
      await expect(t.store.delete(object, {})).resolves.toBe('deleted');
      await expect(t.store.head(object)).resolves.toBeUndefined();
      expect(['absent', 'deleted']).toContain(await t.store.delete(object, {}));
    });

    check('delete: leaves open uploads of the key alone', async () => {
      const object = place()('a');
      await t.store.put(object, bytes('old'), {});
      const { upload, parts } = await openWithPart(object);
      await t.store.delete(object, {});
      await t.store.complete(upload, parts, {});
      await expect(textOf(object)).resolves.toBe('content');
    });

    if (capabilities.conditionalDelete) {
      check('delete ifMatch: only the object with this ETag', async () => {
        const object = place()('a');
        const old = await t.store.put(object, bytes('old'), {});
        const { etag } = await t.store.put(object, bytes('new'), {});
        await expectKind(t.store.delete(object, { ifMatch: old.etag }), 'precondition-failed');
        await expect(textOf(object)).resolves.toBe('new');
        await expect(t.store.delete(object, { ifMatch: etag })).resolves.toBe('deleted');
        await expect(t.store.head(object)).resolves.toBeUndefined();
      });

      check('delete ifMatch: changes nothing where there is none', async () => {
        const object = place()('a');
        const result = t.store.delete(object, { ifMatch: `"${'0'.repeat(32)}"` });
        expect(['absent', 'deleted', 'precondition-failed']).toContain(await result.catch(kindOf));
        await expect(t.store.head(object)).resolves.toBeUndefined();
      });
    } else {
      check('delete ifMatch: unsupported without the capability', async () => {
        const object = place()('a');
        const { etag } = await t.store.put(object, bytes('x'), {});
        await expectKind(t.store.delete(object, { ifMatch: etag }), 'unsupported');
        await expect(textOf(object)).resolves.toBe('x');
      });
    }
  });

  describe('deleteMany', () => {
    check('deleteMany: removes what it names and nothing else', async () => {
      const objects = place();
      const names = times(30, (i) => `f-${i}`);
      await Promise.all(names.map((name) => t.store.put(objects(name), bytes(name), {})));
      const doomed = names.slice(1).map((name) => objects(name).key);
      await expect(t.store.deleteMany(t.running.bucket, doomed)).resolves.toEqual({ failed: [] });
      expect((await listAll(objects('').key)).keys).toEqual([objects('f-0').key]);
    });

    check('deleteMany: absent ones count as removed', async () => {
      const objects = place();
      await t.store.put(objects('there'), bytes('x'), {});
      const keys = [objects('there').key, objects('not-there').key];
      await expect(t.store.deleteMany(t.running.bucket, keys)).resolves.toEqual({ failed: [] });
      await expect(t.store.head(objects('there'))).resolves.toBeUndefined();
    });

    check('deleteMany: takes none and a thousand', async () => {
      await expect(t.store.deleteMany(t.running.bucket, [])).resolves.toEqual({ failed: [] });
      const objects = place();
      const keys = times(1_000, (i) => objects(`f-${i}`).key);
      await t.store.put({ bucket: t.running.bucket, key: keys.at(-1) ?? '' }, bytes('x'), {});
      await expect(t.store.deleteMany(t.running.bucket, keys)).resolves.toEqual({ failed: [] });
      expect((await listAll(objects('').key)).keys).toEqual([]);
    });

    check('deleteMany: takes keys as they are', async () => {
      const objects = place();
      const keys = ['a b', 'c+d', 'e%41', 'f&g', 'h<i>', '日本', '😀'].map((name) => objects(name).key);
      const bystander = objects('eA');
      for (const key of [...keys, bystander.key])
        await t.store.put({ bucket: t.running.bucket, key }, bytes('x'), {});
      await expect(t.store.deleteMany(t.running.bucket, keys)).resolves.toEqual({ failed: [] });
      expect((await listAll(objects('').key)).keys).toEqual([bystander.key]);
    });
  });
}
