import { describe, expect } from 'vitest';
import { compareUtf8 } from '../../src/core/utf8.js';
import { bare, bytes, expectKind, times } from './expectations.js';
import type { SuiteContext } from './suite-context.js';

const HOUR_MS = 3_600_000;

/** Listings of uploads and of their parts. */
export function uploadListings(t: SuiteContext): void {
  const { capabilities, check, place, open, openWithPart, completed, listAllUploads } = t;

  describe('listUploads', () => {
    if (!capabilities.listUploadsByPrefix) {
      check('listUploads: unsupported without the capability', async () => {
        await expectKind(t.store.listUploads(t.running.bucket, '', {}), 'unsupported');
      });
      return;
    }

    check('listUploads: the open uploads under a prefix and no others', async () => {
      const objects = place();
      const opened = [
        await open(objects('in/a')),
        await open(objects('in/b')),
        await open(objects('in/c/d')),
      ];
      await open(objects('out'));
      await completed(objects('in/completed'));
      await t.store.abort(await open(objects('in/aborted')));
      const listed = await listAllUploads(objects('in/').key);
      expect(listed.map(({ key, uploadId }) => ({ key, uploadId }))).toEqual(
        opened.map(({ key, uploadId }) => ({ key, uploadId })),
      );
      for (const { initiatedMs } of listed) expect(Math.abs(initiatedMs - Date.now())).toBeLessThan(HOUR_MS);
    });

    check('listUploads: a prefix that ends in the middle of a name', async () => {
      const objects = place();
      const upload = await open(objects('name-1'));
      await open(objects('other'));
      const listed = await listAllUploads(objects('nam').key);
      expect(listed.map(({ uploadId }) => uploadId)).toEqual([upload.uploadId]);
    });

    check('listUploads: page by page all of them, each once', async () => {
      const objects = place();
      const opened = await Promise.all(times(7, (i) => open(objects(`f-${i}`))));
      const listed = await listAllUploads(objects('').key, 2);
      expect(listed.map(({ uploadId }) => uploadId)).toEqual(opened.map(({ uploadId }) => uploadId));
    });

    check('listUploads: page by page all uploads of one key', async () => {
      const object = place()('a');
      const opened = await Promise.all(times(5, () => open(object)));
      const listed = await listAllUploads(object.key, 2);
      expect(listed.map(({ uploadId }) => uploadId).sort()).toEqual(
        opened.map(({ uploadId }) => uploadId).sort(),
      );
    });

    check('listUploads: keys come back as they are', async () => {
      const objects = place();
      const keys = ['a b', 'c+d', 'e%41', 'f&g', '日本', '😀'].map((name) => objects(name));
      await Promise.all(keys.map((object) => open(object)));
      const listed = await listAllUploads(objects('').key);
      expect(listed.map(({ key }) => key)).toEqual(keys.map(({ key }) => key).sort(compareUtf8));
    });

    check('listUploads: none under a prefix of nobody', async () => {
      await expect(t.store.listUploads(t.running.bucket, place()('').key, {})).resolves.toEqual({
        uploads: [],
      });
    });
  });

  describe('listParts', () => {
    check('listParts: number, size and ETag of each, ascending', async () => {
      const upload = await open(place()('a'));
      const parts = [];
      for (const number of [12, 2, 1])
        parts.unshift(await t.store.uploadPart(upload, number, bytes(`p${number}`)));
      const page = await t.store.listParts(upload, {});
      expect(page.next).toBeUndefined();
      expect(page.parts.map(bare)).toEqual(parts.map(bare));
    });

    check('listParts: page by page all of them, each once', async () => {
      const upload = await open(place()('a'));
      await Promise.all(times(5, (i) => t.store.uploadPart(upload, i + 1, bytes('x'))));
      const numbers: number[] = [];
      let continuation: string | undefined;
      let pages = 0;
      do {
        const page = await t.store.listParts(upload, {
          maxParts: 2,
          ...(continuation !== undefined && { continuation }),
        });
        numbers.push(...page.parts.map(({ partNumber }) => partNumber));
        continuation = page.next;
        pages += 1;
      } while (continuation !== undefined && pages < 10);
      expect(numbers).toEqual([1, 2, 3, 4, 5]);
      expect(pages).toBe(3);
    });

    check('listParts: no-such-upload once the upload has ended', async () => {
      const objects = place();
      const { upload } = await openWithPart(objects('aborted'));
      await t.store.abort(upload);
      await expectKind(t.store.listParts(upload, {}), 'no-such-upload');
      await expectKind(t.store.listParts(await completed(objects('completed')), {}), 'no-such-upload');
    });
  });
}
