import { randomBytes } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { ObjectRef, PartInfo } from '../../src/ports/object-store.js';
import {
  bytes,
  expectKind,
  expectOneWinner,
  ignoreKinds,
  kindOf,
  otherId,
  read,
  times,
} from './expectations.js';
import type { SuiteContext } from './suite-context.js';

/** Opening, filling, completing and aborting uploads. */
export function uploadCalls(t: SuiteContext): void {
  const { capabilities, check, place, open, openWithPart, completed, textOf, listAll } = t;

  describe('initiate', () => {
    check('initiate: each call opens another upload', async () => {
      const object = place()('a');
      const [first, second] = [await open(object), await open(object)];
      expect(first.uploadId).not.toBe(second.uploadId);
      await expect(t.store.abort(first)).resolves.toBe('aborted');
      await expect(t.store.listParts(second, {})).resolves.toEqual({ parts: [] });
    });

    check('initiate: nothing is visible before the Complete', async () => {
      const object = place()('a');
      await openWithPart(object);
      await expect(t.store.head(object)).resolves.toBeUndefined();
      await expect(t.store.get(object)).resolves.toBeUndefined();
      expect((await listAll(object.key)).keys).toEqual([]);
    });

    check('initiate: a key over the limit is key-too-long', async () => {
      const { key } = place()('');
      const long = {
        bucket: t.running.bucket,
        key: key + 'x'.repeat(capabilities.maxKeyBytes - key.length + 1),
      };
      await expectKind(t.store.initiate(long, {}), 'key-too-long');
      await expectKind(t.store.put(long, bytes('x'), {}), 'key-too-long');
    });

    check('initiate: the limit of a key counts bytes of UTF-8', async () => {
      const { key } = place()('');
      const long = {
        bucket: t.running.bucket,
        key: key + '日'.repeat(Math.ceil(capabilities.maxKeyBytes / 3)),
      };
      await expectKind(t.store.initiate(long, {}), 'key-too-long');
    });

    check('initiate: a key as long as the limit works', async () => {
      const { key } = place()('');
      const filler = 'abcdefghi/'
        .repeat(capabilities.maxKeyBytes)
        .slice(0, capabilities.maxKeyBytes - key.length - 1);
      const object = { bucket: t.running.bucket, key: `${key}${filler}z` };
      await completed(object);
      await expect(textOf(object)).resolves.toBe('content');
    });

    check('initiate: an empty key is refused', async () => {
      await expectKind(t.store.initiate({ bucket: t.running.bucket, key: '' }, {}), 'invalid');
    });
  });

  describe('uploadPart', () => {
    check('uploadPart: of one number the last one wins', async () => {
      const object = place()('a');
      const upload = await open(object);
      await t.store.uploadPart(upload, 1, bytes('first'));
      const second = await t.store.uploadPart(upload, 1, bytes('second'));
      expect((await t.store.listParts(upload, {})).parts).toHaveLength(1);
      await t.store.complete(upload, [second], {});
      await expect(textOf(object)).resolves.toBe('second');
    });

    check('uploadPart: says number, size and ETag', async () => {
      const upload = await open(place()('a'));
      const part = await t.store.uploadPart(upload, 7, bytes('seven'));
      expect(part).toEqual({ partNumber: 7, sizeBytes: 5, etag: expect.stringMatching(/\S/) as string });
    });

    check('uploadPart: no-such-upload after the abort', async () => {
      const upload = await open(place()('a'));
      await t.store.abort(upload);
      await expectKind(t.store.uploadPart(upload, 1, bytes('late')), 'no-such-upload');
    });

    check('uploadPart: no-such-upload after the Complete', async () => {
      const object = place()('a');
      const upload = await completed(object);
      await expectKind(t.store.uploadPart(upload, 1, bytes('late')), 'no-such-upload');
      await expect(textOf(object)).resolves.toBe('content');
    });

    check('uploadPart: a number out of range is invalid-parts', async () => {
      const upload = await open(place()('a'));
      for (const partNumber of [0, -1, capabilities.maxParts + 1, 1.5]) {
        await expectKind(t.store.uploadPart(upload, partNumber, bytes('x')), 'invalid-parts');
      }
    });

    check('uploadPart: the caller may reuse its buffer after the call', async () => {
      const object = place()('a');
      const upload = await open(object);
      const body = Buffer.from('before');
      const part = await t.store.uploadPart(upload, 1, body);
      body.fill('x');
      await t.store.complete(upload, [part], {});
      await expect(textOf(object)).resolves.toBe('before');
    });
  });

  describe('complete', () => {
    check('complete: the object is the parts, in the order of their numbers', async () => {
      const object = place()('a');
      const upload = await open(object);
      const bodies = [
        randomBytes(capabilities.minPartBytes),
        randomBytes(capabilities.minPartBytes),
        bytes('end'),
      ];
      const parts = new Map<number, PartInfo>();
      for (const number of [3, 1, 2]) {
        parts.set(number, await t.store.uploadPart(upload, number, bodies[number - 1] ?? bytes('')));
      }
      const { etag } = await t.store.complete(
        upload,
        [1, 2, 3].map((number) => parts.get(number) as PartInfo),
        {},
      );
      const whole = await read(t.store, object);
      expect(Buffer.concat(bodies).equals(whole.body)).toBe(true);
      expect(whole.etag).toBe(etag);
      expect(whole.sizeBytes).toBe(2 * capabilities.minPartBytes + 3);
      await expect(t.store.head(object)).resolves.toMatchObject({ etag, sizeBytes: whole.sizeBytes });
    });

    check('complete: numbers may have gaps and begin anywhere', async () => {
      const object = place()('a');
      const upload = await open(object);
      const first = await t.store.uploadPart(upload, 2, randomBytes(capabilities.minPartBytes));
      const last = await t.store.uploadPart(upload, capabilities.maxParts, bytes('end'));
      await t.store.complete(upload, [first, last], {});
      await expect(t.store.head(object)).resolves.toMatchObject({ sizeBytes: capabilities.minPartBytes + 3 });
    });

    check('complete: parts that are not named are dropped', async () => {
      const object = place()('a');
      const upload = await open(object);
      const first = await t.store.uploadPart(upload, 1, bytes('kept'));
      await t.store.uploadPart(upload, 2, bytes('dropped'));
      await t.store.complete(upload, [first], {});
      await expect(textOf(object)).resolves.toBe('kept');
    });

    check('complete: an empty part makes an empty object', async () => {
      const object = place()('a');
      const upload = await open(object);
      const empty = t.store.uploadPart(upload, 1, new Uint8Array());
      if (!capabilities.emptyParts) {
        await expectKind(empty, 'invalid-parts');
        return;
      }
      await t.store.complete(upload, [await empty], {});
      await expect(t.store.head(object)).resolves.toMatchObject({ sizeBytes: 0 });
      expect((await read(t.store, object)).body).toHaveLength(0);
    });

    check('complete: parts named out of order are invalid-parts', async () => {
      const upload = await open(place()('a'));
      const first = await t.store.uploadPart(upload, 1, randomBytes(capabilities.minPartBytes));
      const second = await t.store.uploadPart(upload, 2, randomBytes(capabilities.minPartBytes));
      await expectKind(t.store.complete(upload, [second, first], {}), 'invalid-parts');
    });

    check('complete: a part named twice is invalid-parts', async () => {
      const { upload, parts } = await openWithPart(place()('a'), randomBytes(capabilities.minPartBytes));
      await expectKind(t.store.complete(upload, [...parts, ...parts], {}), 'invalid-parts');
    });

    check('complete: another ETag is invalid-parts, and the upload stays open', async () => {
      const { upload, parts } = await openWithPart(place()('a'));
      const wrong = { ...(parts[0] as PartInfo), etag: `"${'0'.repeat(32)}"` };
      await expectKind(t.store.complete(upload, [wrong], {}), 'invalid-parts');
      await t.store.complete(upload, parts, {});
    });

    check('complete: a part that is not there is invalid-parts', async () => {
      const { upload, parts } = await openWithPart(place()('a'), randomBytes(capabilities.minPartBytes));
      const missing = { ...(parts[0] as PartInfo), partNumber: 2 };
      await expectKind(t.store.complete(upload, [...parts, missing], {}), 'invalid-parts');
    });

    check('complete: a part that is too small and not the last is invalid-parts', async () => {
      const object = place()('a');
      const upload = await open(object);
      const parts = [
        await t.store.uploadPart(upload, 1, bytes('small')),
        await t.store.uploadPart(upload, 2, bytes('end')),
      ];
      const result = t.store.complete(upload, parts, {});
      if (capabilities.minPartBytes <= 5) {
        await result;
        return;
      }
      await expectKind(result, 'invalid-parts');
      await expect(t.store.head(object)).resolves.toBeUndefined();
      await expect(t.store.abort(upload)).resolves.toBe('aborted');
    });

    check('complete: no parts are invalid-parts', async () => {
      const { upload } = await openWithPart(place()('a'));
      await expectKind(t.store.complete(upload, [], {}), 'invalid-parts');
      await expect(t.store.abort(upload)).resolves.toBe('aborted');
    });

    check('complete: ETags count with quotes and without', async () => {
      const objects = place();
      for (const [name, change] of [
        ['bare', (etag: string) => etag.replaceAll('"', '')],
        ['quoted', (etag: string) => `"${etag.replaceAll('"', '')}"`],
      ] as const) {
        const { upload, parts } = await openWithPart(objects(name));
        await t.store.complete(
          upload,
          parts.map((part) => ({ ...part, etag: change(part.etag) })),
          {},
        );
      }
    });

    check('complete: replaces the object that is there', async () => {
      const object = place()('a');
      await t.store.put(object, bytes('old and longer'), { metadata: { old: 'yes' } });
      await completed(object, bytes('new'));
      await expect(textOf(object)).resolves.toBe('new');
      expect((await t.store.head(object))?.metadata).toEqual({});
    });

    check("complete: of a name that the object before had too, the value is the upload's", async () => {
      const object = place()('a');
      for (const value of ['first', 'second']) {
        const upload = await open(object, { 'commitbridge-id': value });
        await t.store.complete(upload, [await t.store.uploadPart(upload, 1, bytes(value))], {});
        expect((await t.store.head(object))?.metadata).toEqual({ 'commitbridge-id': value });
      }
    });

    check('complete: the object carries metadata and type of the initiate', async () => {
      const object = place()('a');
      const metadata = { 'commitbridge-id': '0123456789abcdef', other: 'x-y_z 1' };
      const uploadId = await t.store.initiate(object, { metadata, contentType: 'text/csv' });
      const upload = { ...object, uploadId };
      await t.store.complete(upload, [await t.store.uploadPart(upload, 1, bytes('x'))], {});
      expect((await t.store.head(object))?.metadata).toEqual(metadata);
      expect((await read(t.store, object)).metadata).toEqual(metadata);
    });

    check('complete: names of metadata come back in lower case', async () => {
      const object = place()('a');
      const upload = await open(object, { 'Commitbridge-ID': 'v' });
      await t.store.complete(upload, [await t.store.uploadPart(upload, 1, bytes('x'))], {});
      expect((await t.store.head(object))?.metadata).toEqual({ 'commitbridge-id': 'v' });
    });

    check('complete: no-such-upload of an id that never was', async () => {
      const { upload, parts } = await openWithPart(place()('a'));
      const unknown = { ...upload, uploadId: otherId(upload.uploadId) };
      await expectKind(t.store.complete(unknown, parts, {}), 'no-such-upload');
    });

    check('complete: no-such-upload with the id of another key', async () => {
      const objects = place();
      const { upload, parts } = await openWithPart(objects('a'));
      await expectKind(t.store.complete({ ...upload, ...objects('b') }, parts, {}), 'no-such-upload');
      await expect(t.store.head(objects('b'))).resolves.toBeUndefined();
      await t.store.complete(upload, parts, {});
    });

    check('complete: no-such-upload after the abort, for ever', async () => {
      const object = place()('a');
      const { upload, parts } = await openWithPart(object);
      await t.store.abort(upload);
      for (let i = 0; i < 3; i += 1) {
        await expectKind(t.store.complete(upload, parts, {}), 'no-such-upload');
      }
      await expect(t.store.head(object)).resolves.toBeUndefined();
    });

    check('complete: a second one succeeds alike, or is no-such-upload', async () => {
      const object = place()('a');
      const { upload, parts } = await openWithPart(object);
      const { etag } = await t.store.complete(upload, parts, {});
      const second = t.store.complete(upload, parts, {});
      if (capabilities.idempotentComplete) await expect(second).resolves.toEqual({ etag });
      else await expectKind(second, 'no-such-upload');
      await expect(textOf(object)).resolves.toBe('content');
    });

    check('complete: a second one never touches an object written since', async () => {
      const object = place()('a');
      const { upload, parts } = await openWithPart(object);
      await t.store.complete(upload, parts, {});
      await t.store.put(object, bytes('newer'), {});
      await t.store.complete(upload, parts, {}).catch(ignoreKinds('no-such-upload'));
      await expect(textOf(object)).resolves.toBe('newer');
    });

    check('complete: a second one never brings back a deleted object', async () => {
      const object = place()('a');
      const { upload, parts } = await openWithPart(object);
      await t.store.complete(upload, parts, {});
      await t.store.delete(object, {});
      await t.store.complete(upload, parts, {}).catch(ignoreKinds('no-such-upload'));
      await expect(t.store.head(object)).resolves.toBeUndefined();
    });

    check('complete: of several at a time one at least succeeds, and the object is right', async () => {
      const object = place()('a');
      const { upload, parts } = await openWithPart(object);
      const results = await Promise.allSettled(times(8, () => t.store.complete(upload, parts, {})));
      expect(results.some(({ status }) => status === 'fulfilled')).toBe(true);
      for (const result of results) {
        if (result.status === 'rejected') expect(kindOf(result.reason)).toBe('no-such-upload');
      }
      await expect(textOf(object)).resolves.toBe('content');
    });
  });

  describe('complete with ifNoneMatch', () => {
    if (!capabilities.conditionalComplete) {
      check('conditional complete: unsupported without the capability', async () => {
        const { upload, parts } = await openWithPart(place()('a'));
        await expectKind(t.store.complete(upload, parts, { ifNoneMatch: '*' }), 'unsupported');
      });
      return;
    }

    check('conditional complete: succeeds where the key has no object', async () => {
      const object = place()('a');
      const { upload, parts } = await openWithPart(object);
      await t.store.complete(upload, parts, { ifNoneMatch: '*' });
      await expect(textOf(object)).resolves.toBe('content');
    });

    check(
      'conditional complete: precondition-failed where it has one, and the upload stays open',
      async () => {
        const object = place()('a');
        await t.store.put(object, bytes('theirs'), {});
        const { upload, parts } = await openWithPart(object);
        await expectKind(t.store.complete(upload, parts, { ifNoneMatch: '*' }), 'precondition-failed');
        await expect(textOf(object)).resolves.toBe('theirs');
        expect((await t.store.listParts(upload, {})).parts).toHaveLength(1);
        await t.store.complete(upload, parts, {});
        await expect(textOf(object)).resolves.toBe('content');
      },
    );

    check('conditional complete: of 8 at a time one succeeds', async () => {
      const objects = place();
      for (let round = 0; round < 5; round += 1) {
        const object = objects(`round-${round}`);
        const opened = await Promise.all(times(8, (i) => openWithPart(object, bytes(`writer ${i}`))));
        const results = await Promise.allSettled(
          opened.map(({ upload, parts }) => t.store.complete(upload, parts, { ifNoneMatch: '*' })),
        );
        const winner = expectOneWinner(results, 'precondition-failed', 'conflict');
        await expect(textOf(object)).resolves.toBe(`writer ${winner}`);
      }
    });
  });

  describe('abort', () => {
    check('abort: aborted, and absent the second time', async () => {
      const { upload } = await openWithPart(place()('a'));
      await expect(t.store.abort(upload)).resolves.toBe('aborted');
      await expect(t.store.abort(upload)).resolves.toBe('absent');
    });

    check('abort: absent after the Complete, and the object stays', async () => {
      const object = place()('a');
      const upload = await completed(object);
      await expect(t.store.abort(upload)).resolves.toBe('absent');
      await expect(textOf(object)).resolves.toBe('content');
    });

    check('abort: absent of an id that never was', async () => {
      const upload = await open(place()('a'));
      await expect(t.store.abort({ ...upload, uploadId: otherId(upload.uploadId) })).resolves.toBe('absent');
    });

    check('abort: against a Complete at the same time, a Complete that is told to succeed did', async () => {
      await raceAbortAndComplete(async (object, outcome) => {
        const isVisible = (await t.store.head(object)) !== undefined;
        expect(isVisible).toBe(outcome.completed);
      });
    });

    check(
      'abort: against a Complete at the same time, an object that is not there after it never comes',
      async () => {
        await raceAbortAndComplete(async (object, { isVisibleAfterAbort }) => {
          if (!isVisibleAfterAbort) await expect(t.store.head(object)).resolves.toBeUndefined();
        });
      },
    );

    check('abort: against a Complete at the same time, aborted means that there is no object', async () => {
      await raceAbortAndComplete(async (object, { aborted }) => {
        if (aborted) await expect(t.store.head(object)).resolves.toBeUndefined();
      });
    });

    async function raceAbortAndComplete(
      judge: (
        object: ObjectRef,
        outcome: { completed: boolean; aborted: boolean; isVisibleAfterAbort: boolean },
      ) => Promise<void>,
    ): Promise<void> {
      const objects = place();
      for (let round = 0; round < 24; round += 1) {
        const object = objects(`round-${round}`);
        const { upload, parts } = await openWithPart(object);
        const completing = t.store.complete(upload, parts, {}).then(
          () => true,
          () => false,
        );
        await new Promise((resolve) => setTimeout(resolve, round % 6));
        const aborted = await t.store.abort(upload).then(
          (result) => result === 'aborted',
          () => false,
        );
        const isVisibleAfterAbort = (await t.store.head(object)) !== undefined;
        await judge(object, { completed: await completing, aborted, isVisibleAfterAbort });
      }
    }
  });
}
