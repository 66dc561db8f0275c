import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { bare, bytes, expectKind, kindOf } from './expectations.js';
import type { SuiteContext } from './suite-context.js';

/** Signed parts, errors that have nothing to do with an object, rules of the bucket. */
export function accessAndErrors(t: SuiteContext): void {
  const { capabilities, check, place, open, textOf } = t;

  describe('presignPart', () => {
    if (!capabilities.presign) {
      check('presignPart: unsupported without the capability', async () => {
        await expectKind(t.store.presignPart(await open(place()('a')), 1, 60), 'unsupported');
      });
      return;
    }

    check('presignPart: anybody may send the part', async () => {
      const object = place()('a');
      const upload = await open(object);
      const signed = await t.store.presignPart(upload, 1, 600);
      expect(signed.method).toBe('PUT');
      const { status, etag } = await t.running.putSigned(signed.url, signed.headers, bytes('signed'));
      expect(status).toBe(200);
      const { parts } = await t.store.listParts(upload, {});
      expect(parts.map(bare)).toEqual([bare({ partNumber: 1, sizeBytes: 6, etag: etag ?? 'none' })]);
      await t.store.complete(upload, [{ partNumber: 1, etag: etag ?? '' }], {});
      await expect(textOf(object)).resolves.toBe('signed');
    });

    check('presignPart: an empty part', async () => {
      if (!capabilities.emptyParts) return;
      const object = place()('a');
      const upload = await open(object);
      const { url, headers } = await t.store.presignPart(upload, 1, 600);
      const { status, etag } = await t.running.putSigned(url, headers, new Uint8Array());
      expect(status).toBe(200);
      await t.store.complete(upload, [{ partNumber: 1, etag: etag ?? '' }], {});
      await expect(t.store.head(object)).resolves.toMatchObject({ sizeBytes: 0 });
    });

    check('presignPart: keys with special characters', async () => {
      const objects = place();
      for (const name of ["a b+c&d=e#f?g%h%41'(!*)", 'é/日本/😀', '~@:;,$']) {
        const upload = await open(objects(name));
        const { url, headers } = await t.store.presignPart(upload, 1, 600);
        const { status } = await t.running.putSigned(url, headers, bytes('signed'));
        expect(status, name).toBe(200);
        expect((await t.store.listParts(upload, {})).parts).toHaveLength(1);
      }
    });

    check('presignPart: 403 with another signature, part, key or upload', async () => {
      const objects = place();
      const upload = await open(objects('a'));
      const { url, headers } = await t.store.presignPart(upload, 1, 600);
      const changed = [
        url.replace(
          /([?&-]signature=(?:%[0-9a-f]{2})*)([0-9a-z])/i,
          (_, name: string, digit: string) => name + (digit === '0' ? '1' : '0'),
        ),
        url.replace('partNumber=1', 'partNumber=2'),
        url.replace(/\/a\?|%2Fa\?/, (found) => found.replace('a', 'b')),
      ];
      for (const other of changed) {
        expect(other).not.toBe(url);
        expect((await t.running.putSigned(other, headers, bytes('x'))).status).toBe(403);
      }
      expect((await t.store.listParts(upload, {})).parts).toEqual([]);
    });

    check('presignPart: never longer than 15 minutes', async () => {
      const before = Date.now();
      const { expiresAtMs } = await t.store.presignPart(await open(place()('a')), 1, 86_400);
      expect(expiresAtMs).toBeGreaterThan(before + 800_000);
      expect(expiresAtMs).toBeLessThanOrEqual(Date.now() + 900_000);
    });

    check('presignPart: 404 when the upload has ended', async () => {
      const upload = await open(place()('a'));
      const { url, headers } = await t.store.presignPart(upload, 1, 600);
      await t.store.abort(upload);
      expect((await t.running.putSigned(url, headers, bytes('late'))).status).toBe(404);
    });
  });

  describe('errors', () => {
    check('errors: no-such-bucket', async () => {
      const object = { bucket: `missing-${randomUUID()}`, key: 'a' };
      const calls = [
        t.store.initiate(object, {}),
        t.store.put(object, bytes('x'), {}),
        t.store.get(object),
        t.store.list(object.bucket, '', {}),
      ];
      for (const call of await Promise.allSettled(calls)) {
        expect(call.status === 'rejected' ? kindOf(call.reason) : 'succeeded').toBe('no-such-bucket');
      }
    });

    check('errors: HEAD in a missing bucket finds nothing', async () => {
      const head = t.store.head({ bucket: `missing-${randomUUID()}`, key: 'a' });
      expect([undefined, 'no-such-bucket']).toContain(await head.catch(kindOf));
    });

    for (const [who, name] of [
      ['wrongSecret', 'errors: access-denied with a wrong secret'],
      ['unknownKey', 'errors: access-denied with an unknown key id'],
    ] as const) {
      check(name, async () => {
        if (t.running.refused === undefined) return;
        const stranger = t.running.refused[who];
        const object = place()('a');
        await expectKind(stranger.put(object, bytes('x'), {}), 'access-denied');
        await expectKind(stranger.get(object), 'access-denied');
        await expectKind(stranger.head(object), 'access-denied');
        await expectKind(stranger.initiate(object, {}), 'access-denied');
        await expectKind(stranger.list(object.bucket, '', {}), 'access-denied');
        await expect(t.store.head(object)).resolves.toBeUndefined();
      });
    }

    check('errors: unavailable where nobody listens', async () => {
      if (t.running.unreachable === undefined) return;
      const object = place()('a');
      await expectKind(t.running.unreachable.put(object, bytes('x'), {}), 'unavailable');
      await expectKind(t.running.unreachable.head(object), 'unavailable');
    });

    check('errors: cancelled by a signal that has fired', async () => {
      const object = place()('a');
      const signal = AbortSignal.abort(new Error('enough'));
      await expectKind(t.store.put(object, bytes('x'), {}, { signal }), 'cancelled');
      await expectKind(t.store.head(object, { signal }), 'cancelled');
      await expectKind(t.store.list(object.bucket, object.key, {}, { signal }), 'cancelled');
      await expect(t.store.head(object)).resolves.toBeUndefined();
    });

    check('errors: cancelled by a signal that fires on the way', async () => {
      const object = place()('a');
      const controller = new AbortController();
      const put = t.store.put(object, randomBytes(4 * 1024 * 1024), {}, { signal: controller.signal });
      controller.abort();
      await expectKind(put, 'cancelled');
    });
  });

  describe('lifecycle', () => {
    check('lifecycle: rules, or undefined where the store does not tell', async () => {
      const rules = await t.store.lifecycle(t.running.bucket);
      for (const rule of rules ?? []) expect(rule.daysAfterInitiation).toBeGreaterThan(0);
    });
  });
}
