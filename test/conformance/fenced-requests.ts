import { describe, expect } from 'vitest';
import { bytes, expectKind } from './expectations.js';
import type { SuiteContext } from './suite-context.js';

/** Puts and deletes that are signed first and sent later. */
export function fencedRequests(t: SuiteContext): void {
  const { capabilities, check, place, textOf } = t;

  describe('signed first, sent later', () => {
    if (!capabilities.presign) {
      check('preparePut: unsupported without the capability', async () => {
        await expectKind(t.store.preparePut(place()('a'), {}, 30), 'unsupported');
        await expectKind(t.store.prepareDelete(place()('a'), 30), 'unsupported');
      });
      return;
    }

    check('sendPut: writes body, type and metadata', async () => {
      const object = place()("a b+c%41'(é😀)");
      const options = { contentType: 'text/plain', metadata: { 'commitbridge-id': 'abc' } };
      const prepared = await t.store.preparePut(object, options, 30);
      expect(await t.store.head(object)).toBeUndefined();
      const { etag } = await t.store.sendPut(prepared, bytes('inline'));
      await expect(textOf(object)).resolves.toBe('inline');
      const head = await t.store.head(object);
      expect(head?.metadata['commitbridge-id']).toBe('abc');
      expect(head?.etag.replaceAll('"', '')).toBe(etag.replaceAll('"', ''));
    });

    check('sendPut: an empty body', async () => {
      const object = place()('a');
      await t.store.sendPut(await t.store.preparePut(object, {}, 30), new Uint8Array());
      await expect(t.store.head(object)).resolves.toMatchObject({ sizeBytes: 0 });
    });

    check('sendDelete: removes the object, and says where there is none', async () => {
      const object = place()("a b+c%41'(é😀)");
      await t.store.put(object, bytes('old'), {});
      const prepared = await t.store.prepareDelete(object, 30);
      await expect(textOf(object)).resolves.toBe('old');
      await t.store.sendDelete(prepared);
      expect(await t.store.head(object)).toBeUndefined();
      await t.store.sendDelete(await t.store.prepareDelete(object, 30));
    });

    if (!capabilities.conditionalPut) return;

    check('sendPut: if-none-match refuses a key that exists', async () => {
      const object = place()('a');
      const prepared = await t.store.preparePut(object, { ifNoneMatch: '*' }, 30);
      await t.store.put(object, bytes('first'), {});
      await expectKind(t.store.sendPut(prepared, bytes('second')), 'precondition-failed');
      await expect(textOf(object)).resolves.toBe('first');
    });

    if (!capabilities.conditionalOverwrite) {
      check('preparePut: if-match is unsupported without the capability', async () => {
        await expectKind(t.store.preparePut(place()('a'), { ifMatch: '"x"' }, 30), 'unsupported');
      });
      return;
    }

    check('sendPut: if-match refuses another ETag and takes the right one', async () => {
      const object = place()('a');
      const { etag } = await t.store.put(object, bytes('first'), {});
      const right = await t.store.preparePut(object, { ifMatch: etag }, 30);
      const wrong = await t.store.preparePut(object, { ifMatch: '"0123456789abcdef0123456789abcdef"' }, 30);
      await expectKind(t.store.sendPut(wrong, bytes('wrong')), 'precondition-failed');
      await t.store.sendPut(right, bytes('right'));
      await expect(textOf(object)).resolves.toBe('right');
    });
  });
}
