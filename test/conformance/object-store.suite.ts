import { randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  CompletedPart,
  ListedUpload,
  ObjectRef,
  ObjectStore,
  PartInfo,
  StoreErrorKind,
  UploadRef,
} from '../../src/ports/object-store.js';
import { StoreError } from '../../src/ports/object-store.js';
import { compareUtf8 } from '../../src/core/utf8.js';
import type { ConformanceTarget, RunningTarget } from './conformance-target.js';

const TEST_TIMEOUT_MS = 60_000;
const START_TIMEOUT_MS = 400_000;
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

/** Every sentence of the port's contract, as tests; what depends on a capability asks for it. */
export function objectStoreSuite(target: ConformanceTarget): void {
  const { capabilities, knownGaps = {} } = target;
  const names = new Set<string>();

  /** A test, or for a known gap its opposite. */
  function check(name: string, body: () => Promise<void>): void {
    names.add(name);
    const gap = knownGaps[name];
    if (gap === undefined) {
      it(name, body, TEST_TIMEOUT_MS);
      return;
    }
    const isRace = typeof gap !== 'string';
    it(
      `${name} [known gap: ${isRace ? gap.sometimes : gap}]`,
      async () => {
        const failed = await body().then(
          () => false,
          () => true,
        );
        if (!isRace) expect(failed, 'a known gap has closed: take it off the list').toBe(true);
      },
      TEST_TIMEOUT_MS,
    );
  }

  describe(`object store: ${target.name}`, () => {
    let running: RunningTarget;
    let store: ObjectStore;

    beforeAll(async () => {
      running = await target.start();
      store = running.store;
    }, START_TIMEOUT_MS);

    afterAll(async () => {
      // `running` is missing where the start failed, which has failed the suite already.
      await (running as RunningTarget | undefined)?.store.close();
      await (running as RunningTarget | undefined)?.stop();
    });

    /** Keys of one test, away from those of all others. */
    function place(): (name: string) => ObjectRef {
      const prefix = `t-${randomUUID()}/`;
      return (name) => ({ bucket: running.bucket, key: prefix + name });
    }

    async function open(object: ObjectRef, metadata?: Record<string, string>): Promise<UploadRef> {
      const uploadId = await store.initiate(object, metadata === undefined ? {} : { metadata });
      return { ...object, uploadId };
    }

    async function openWithPart(
      object: ObjectRef,
      body: Uint8Array = bytes('content'),
    ): Promise<{ upload: UploadRef; parts: PartInfo[] }> {
      const upload = await open(object);
      return { upload, parts: [await store.uploadPart(upload, 1, body)] };
    }

    async function completed(object: ObjectRef, body?: Uint8Array): Promise<UploadRef> {
      const { upload, parts } = await openWithPart(object, body);
      await store.complete(upload, parts, {});
      return upload;
    }

    async function textOf(object: ObjectRef): Promise<string> {
      return Buffer.from((await store.get(object)).body).toString();
    }

    async function listAll(
      prefix: string,
      options: { maxKeys?: number; startAfter?: string; delimiter?: '/' } = {},
    ): Promise<{ keys: string[]; prefixes: string[]; pages: number }> {
      const keys: string[] = [];
      const prefixes: string[] = [];
      let continuation: string | undefined;
      let pages = 0;
      do {
        const page = await store.list(running.bucket, prefix, {
          ...options,
          ...(continuation !== undefined && { continuation }),
        });
        keys.push(...page.objects.map(({ key }) => key));
        prefixes.push(...page.prefixes);
        continuation = page.next;
        pages += 1;
      } while (continuation !== undefined && pages < 100);
      return { keys, prefixes, pages };
    }

    async function listAllUploads(prefix: string, maxUploads?: number): Promise<ListedUpload[]> {
      const uploads: ListedUpload[] = [];
      let continuation: string | undefined;
      let pages = 0;
      do {
        const page = await store.listUploads(running.bucket, prefix, {
          ...(maxUploads !== undefined && { maxUploads }),
          ...(continuation !== undefined && { continuation }),
        });
        uploads.push(...page.uploads);
        continuation = page.next;
        pages += 1;
      } while (continuation !== undefined && pages < 100);
      return uploads;
    }

    describe('initiate', () => {
      check('initiate: each call opens another upload', async () => {
        const object = place()('a');
        const [first, second] = [await open(object), await open(object)];
        expect(first.uploadId).not.toBe(second.uploadId);
        await expect(store.abort(first)).resolves.toBe('aborted');
        await expect(store.listParts(second, {})).resolves.toEqual({ parts: [] });
      });

      check('initiate: nothing is visible before the Complete', async () => {
        const object = place()('a');
        await openWithPart(object);
        await expect(store.head(object)).resolves.toBeUndefined();
        await expectKind(store.get(object), 'not-found');
        expect((await listAll(object.key)).keys).toEqual([]);
      });

      check('initiate: a key over the limit is key-too-long', async () => {
        const { key } = place()('');
        const long = {
          bucket: running.bucket,
          key: key + 'x'.repeat(capabilities.maxKeyBytes - key.length + 1),
        };
        await expectKind(store.initiate(long, {}), 'key-too-long');
        await expectKind(store.put(long, bytes('x'), {}), 'key-too-long');
      });

      check('initiate: the limit of a key counts bytes of UTF-8', async () => {
        const { key } = place()('');
        const long = {
          bucket: running.bucket,
          key: key + '日'.repeat(Math.ceil(capabilities.maxKeyBytes / 3)),
        };
        await expectKind(store.initiate(long, {}), 'key-too-long');
      });

      check('initiate: a key as long as the limit works', async () => {
        const { key } = place()('');
        const filler = 'abcdefghi/'
          .repeat(capabilities.maxKeyBytes)
          .slice(0, capabilities.maxKeyBytes - key.length - 1);
        const object = { bucket: running.bucket, key: `${key}${filler}z` };
        await completed(object);
        await expect(textOf(object)).resolves.toBe('content');
      });

      check('initiate: an empty key is refused', async () => {
        await expectKind(store.initiate({ bucket: running.bucket, key: '' }, {}), 'invalid');
      });
    });

    describe('uploadPart', () => {
      check('uploadPart: of one number the last one wins', async () => {
        const object = place()('a');
        const upload = await open(object);
        await store.uploadPart(upload, 1, bytes('first'));
        const second = await store.uploadPart(upload, 1, bytes('second'));
        expect((await store.listParts(upload, {})).parts).toHaveLength(1);
        await store.complete(upload, [second], {});
        await expect(textOf(object)).resolves.toBe('second');
      });

      check('uploadPart: says number, size and ETag', async () => {
        const upload = await open(place()('a'));
        const part = await store.uploadPart(upload, 7, bytes('seven'));
        expect(part).toEqual({ partNumber: 7, sizeBytes: 5, etag: expect.stringMatching(/\S/) as string });
      });

      check('uploadPart: no-such-upload after the abort', async () => {
        const upload = await open(place()('a'));
        await store.abort(upload);
        await expectKind(store.uploadPart(upload, 1, bytes('late')), 'no-such-upload');
      });

      check('uploadPart: no-such-upload after the Complete', async () => {
        const object = place()('a');
        const upload = await completed(object);
        await expectKind(store.uploadPart(upload, 1, bytes('late')), 'no-such-upload');
        await expect(textOf(object)).resolves.toBe('content');
      });

      check('uploadPart: a number out of range is invalid-parts', async () => {
        const upload = await open(place()('a'));
        for (const partNumber of [0, -1, capabilities.maxParts + 1, 1.5]) {
          await expectKind(store.uploadPart(upload, partNumber, bytes('x')), 'invalid-parts');
        }
      });

      check('uploadPart: the caller may reuse its buffer after the call', async () => {
        const object = place()('a');
        const upload = await open(object);
        const body = Buffer.from('before');
        const part = await store.uploadPart(upload, 1, body);
        body.fill('x');
        await store.complete(upload, [part], {});
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
          parts.set(number, await store.uploadPart(upload, number, bodies[number - 1] ?? bytes('')));
        }
        const { etag } = await store.complete(
          upload,
          [1, 2, 3].map((number) => parts.get(number) as PartInfo),
          {},
        );
        const whole = await store.get(object);
        expect(Buffer.concat(bodies).equals(whole.body)).toBe(true);
        expect(whole.etag).toBe(etag);
        expect(whole.sizeBytes).toBe(2 * capabilities.minPartBytes + 3);
        await expect(store.head(object)).resolves.toMatchObject({ etag, sizeBytes: whole.sizeBytes });
      });

      check('complete: numbers may have gaps and begin anywhere', async () => {
        const object = place()('a');
        const upload = await open(object);
        const first = await store.uploadPart(upload, 2, randomBytes(capabilities.minPartBytes));
        const last = await store.uploadPart(upload, capabilities.maxParts, bytes('end'));
        await store.complete(upload, [first, last], {});
        await expect(store.head(object)).resolves.toMatchObject({ sizeBytes: capabilities.minPartBytes + 3 });
      });

      check('complete: parts that are not named are dropped', async () => {
        const object = place()('a');
        const upload = await open(object);
        const first = await store.uploadPart(upload, 1, bytes('kept'));
        await store.uploadPart(upload, 2, bytes('dropped'));
        await store.complete(upload, [first], {});
        await expect(textOf(object)).resolves.toBe('kept');
      });

      check('complete: an empty part makes an empty object', async () => {
        const object = place()('a');
        const upload = await open(object);
        const empty = store.uploadPart(upload, 1, new Uint8Array());
        if (!capabilities.emptyParts) {
          await expectKind(empty, 'invalid-parts');
          return;
        }
        await store.complete(upload, [await empty], {});
        await expect(store.head(object)).resolves.toMatchObject({ sizeBytes: 0 });
        expect((await store.get(object)).body).toHaveLength(0);
      });

      check('complete: parts named out of order are invalid-parts', async () => {
        const upload = await open(place()('a'));
        const first = await store.uploadPart(upload, 1, randomBytes(capabilities.minPartBytes));
        const second = await store.uploadPart(upload, 2, randomBytes(capabilities.minPartBytes));
        await expectKind(store.complete(upload, [second, first], {}), 'invalid-parts');
      });

      check('complete: a part named twice is invalid-parts', async () => {
        const { upload, parts } = await openWithPart(place()('a'), randomBytes(capabilities.minPartBytes));
        await expectKind(store.complete(upload, [...parts, ...parts], {}), 'invalid-parts');
      });

      check('complete: another ETag is invalid-parts, and the upload stays open', async () => {
        const { upload, parts } = await openWithPart(place()('a'));
        const wrong = { ...(parts[0] as PartInfo), etag: `"${'0'.repeat(32)}"` };
        await expectKind(store.complete(upload, [wrong], {}), 'invalid-parts');
        await store.complete(upload, parts, {});
      });

      check('complete: a part that is not there is invalid-parts', async () => {
        const { upload, parts } = await openWithPart(place()('a'), randomBytes(capabilities.minPartBytes));
        const missing = { ...(parts[0] as PartInfo), partNumber: 2 };
        await expectKind(store.complete(upload, [...parts, missing], {}), 'invalid-parts');
      });

      check('complete: a part that is too small and not the last is invalid-parts', async () => {
        const object = place()('a');
        const upload = await open(object);
        const parts = [
          await store.uploadPart(upload, 1, bytes('small')),
          await store.uploadPart(upload, 2, bytes('end')),
        ];
        const result = store.complete(upload, parts, {});
        if (capabilities.minPartBytes <= 5) {
          await result;
          return;
        }
        await expectKind(result, 'invalid-parts');
        await expect(store.head(object)).resolves.toBeUndefined();
        await expect(store.abort(upload)).resolves.toBe('aborted');
      });

      check('complete: no parts are invalid-parts', async () => {
        const { upload } = await openWithPart(place()('a'));
        await expectKind(store.complete(upload, [], {}), 'invalid-parts');
        await expect(store.abort(upload)).resolves.toBe('aborted');
      });

      check('complete: ETags count with quotes and without', async () => {
        const objects = place();
        for (const [name, change] of [
          ['bare', (etag: string) => etag.replaceAll('"', '')],
          ['quoted', (etag: string) => `"${etag.replaceAll('"', '')}"`],
        ] as const) {
          const { upload, parts } = await openWithPart(objects(name));
          await store.complete(
            upload,
            parts.map((part) => ({ ...part, etag: change(part.etag) })),
            {},
          );
        }
      });

      check('complete: replaces the object that is there', async () => {
        const object = place()('a');
        await store.put(object, bytes('old and longer'), { metadata: { old: 'yes' } });
        await completed(object, bytes('new'));
        await expect(textOf(object)).resolves.toBe('new');
        expect((await store.head(object))?.metadata).toEqual({});
      });

      check("complete: of a name that the object before had too, the value is the upload's", async () => {
        const object = place()('a');
        for (const value of ['first', 'second']) {
          const upload = await open(object, { 'commitbridge-id': value });
          await store.complete(upload, [await store.uploadPart(upload, 1, bytes(value))], {});
          expect((await store.head(object))?.metadata).toEqual({ 'commitbridge-id': value });
        }
      });

      check('complete: the object carries metadata and type of the initiate', async () => {
        const object = place()('a');
        const metadata = { 'commitbridge-id': '0123456789abcdef', other: 'x-y_z 1' };
        const uploadId = await store.initiate(object, { metadata, contentType: 'text/csv' });
        const upload = { ...object, uploadId };
        await store.complete(upload, [await store.uploadPart(upload, 1, bytes('x'))], {});
        expect((await store.head(object))?.metadata).toEqual(metadata);
        expect((await store.get(object)).metadata).toEqual(metadata);
      });

      check('complete: names of metadata come back in lower case', async () => {
        const object = place()('a');
        const upload = await open(object, { 'Commitbridge-ID': 'v' });
        await store.complete(upload, [await store.uploadPart(upload, 1, bytes('x'))], {});
        expect((await store.head(object))?.metadata).toEqual({ 'commitbridge-id': 'v' });
      });

      check('complete: no-such-upload of an id that never was', async () => {
        const { upload, parts } = await openWithPart(place()('a'));
        const unknown = { ...upload, uploadId: otherId(upload.uploadId) };
        await expectKind(store.complete(unknown, parts, {}), 'no-such-upload');
      });

      check('complete: no-such-upload with the id of another key', async () => {
        const objects = place();
        const { upload, parts } = await openWithPart(objects('a'));
        await expectKind(store.complete({ ...upload, ...objects('b') }, parts, {}), 'no-such-upload');
        await expect(store.head(objects('b'))).resolves.toBeUndefined();
        await store.complete(upload, parts, {});
      });

      check('complete: no-such-upload after the abort, for ever', async () => {
        const object = place()('a');
        const { upload, parts } = await openWithPart(object);
        await store.abort(upload);
        for (let i = 0; i < 3; i += 1) {
          await expectKind(store.complete(upload, parts, {}), 'no-such-upload');
        }
        await expect(store.head(object)).resolves.toBeUndefined();
      });

      check('complete: a second one succeeds alike, or is no-such-upload', async () => {
        const object = place()('a');
        const { upload, parts } = await openWithPart(object);
        const { etag } = await store.complete(upload, parts, {});
        const second = store.complete(upload, parts, {});
        if (capabilities.idempotentComplete) await expect(second).resolves.toEqual({ etag });
        else await expectKind(second, 'no-such-upload');
        await expect(textOf(object)).resolves.toBe('content');
      });

      check('complete: a second one never touches an object written since', async () => {
        const object = place()('a');
        const { upload, parts } = await openWithPart(object);
        await store.complete(upload, parts, {});
        await store.put(object, bytes('newer'), {});
        await store.complete(upload, parts, {}).catch(ignoreKinds('no-such-upload'));
        await expect(textOf(object)).resolves.toBe('newer');
      });

      check('complete: a second one never brings back a deleted object', async () => {
        const object = place()('a');
        const { upload, parts } = await openWithPart(object);
        await store.complete(upload, parts, {});
        await store.delete(object, {});
        await store.complete(upload, parts, {}).catch(ignoreKinds('no-such-upload'));
        await expect(store.head(object)).resolves.toBeUndefined();
      });

      check('complete: of several at a time one at least succeeds, and the object is right', async () => {
        const object = place()('a');
        const { upload, parts } = await openWithPart(object);
        const results = await Promise.allSettled(times(8, () => store.complete(upload, parts, {})));
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
          await expectKind(store.complete(upload, parts, { ifNoneMatch: '*' }), 'unsupported');
        });
        return;
      }

      check('conditional complete: succeeds where the key has no object', async () => {
        const object = place()('a');
        const { upload, parts } = await openWithPart(object);
        await store.complete(upload, parts, { ifNoneMatch: '*' });
        await expect(textOf(object)).resolves.toBe('content');
      });

      check(
        'conditional complete: precondition-failed where it has one, and the upload stays open',
        async () => {
          const object = place()('a');
          await store.put(object, bytes('theirs'), {});
          const { upload, parts } = await openWithPart(object);
          await expectKind(store.complete(upload, parts, { ifNoneMatch: '*' }), 'precondition-failed');
          await expect(textOf(object)).resolves.toBe('theirs');
          expect((await store.listParts(upload, {})).parts).toHaveLength(1);
          await store.complete(upload, parts, {});
          await expect(textOf(object)).resolves.toBe('content');
        },
      );

      check('conditional complete: of 8 at a time one succeeds', async () => {
        const objects = place();
        for (let round = 0; round < 5; round += 1) {
          const object = objects(`round-${round}`);
          const opened = await Promise.all(times(8, (i) => openWithPart(object, bytes(`writer ${i}`))));
          const results = await Promise.allSettled(
            opened.map(({ upload, parts }) => store.complete(upload, parts, { ifNoneMatch: '*' })),
          );
          const winner = expectOneWinner(results, 'precondition-failed', 'conflict');
          await expect(textOf(object)).resolves.toBe(`writer ${winner}`);
        }
      });
    });

    describe('abort', () => {
      check('abort: aborted, and absent the second time', async () => {
        const { upload } = await openWithPart(place()('a'));
        await expect(store.abort(upload)).resolves.toBe('aborted');
        await expect(store.abort(upload)).resolves.toBe('absent');
      });

      check('abort: absent after the Complete, and the object stays', async () => {
        const object = place()('a');
        const upload = await completed(object);
        await expect(store.abort(upload)).resolves.toBe('absent');
        await expect(textOf(object)).resolves.toBe('content');
      });

      check('abort: absent of an id that never was', async () => {
        const upload = await open(place()('a'));
        await expect(store.abort({ ...upload, uploadId: otherId(upload.uploadId) })).resolves.toBe('absent');
      });

      check(
        'abort: against a Complete at the same time, a Complete that is told to succeed did',
        async () => {
          await raceAbortAndComplete(async (object, outcome) => {
            const isVisible = (await store.head(object)) !== undefined;
            expect(isVisible).toBe(outcome.completed);
          });
        },
      );

      check(
        'abort: against a Complete at the same time, an object that is not there after it never comes',
        async () => {
          await raceAbortAndComplete(async (object, { isVisibleAfterAbort }) => {
            if (!isVisibleAfterAbort) await expect(store.head(object)).resolves.toBeUndefined();
          });
        },
      );

      check('abort: against a Complete at the same time, aborted means that there is no object', async () => {
        await raceAbortAndComplete(async (object, { aborted }) => {
          if (aborted) await expect(store.head(object)).resolves.toBeUndefined();
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
          const completing = store.complete(upload, parts, {}).then(
            () => true,
            () => false,
          );
          await new Promise((resolve) => setTimeout(resolve, round % 6));
          const aborted = await store.abort(upload).then(
            (result) => result === 'aborted',
            () => false,
          );
          const isVisibleAfterAbort = (await store.head(object)) !== undefined;
          await judge(object, { completed: await completing, aborted, isVisibleAfterAbort });
        }
      }
    });

    describe('listUploads', () => {
      if (!capabilities.listUploadsByPrefix) {
        check('listUploads: unsupported without the capability', async () => {
          await expectKind(store.listUploads(running.bucket, '', {}), 'unsupported');
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
        await store.abort(await open(objects('in/aborted')));
        const listed = await listAllUploads(objects('in/').key);
        expect(listed.map(({ key, uploadId }) => ({ key, uploadId }))).toEqual(
          opened.map(({ key, uploadId }) => ({ key, uploadId })),
        );
        for (const { initiatedMs } of listed)
          expect(Math.abs(initiatedMs - Date.now())).toBeLessThan(HOUR_MS);
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
        await expect(store.listUploads(running.bucket, place()('').key, {})).resolves.toEqual({
          uploads: [],
        });
      });
    });

    describe('listParts', () => {
      check('listParts: number, size and ETag of each, ascending', async () => {
        const upload = await open(place()('a'));
        const parts = [];
        for (const number of [12, 2, 1])
          parts.unshift(await store.uploadPart(upload, number, bytes(`p${number}`)));
        const page = await store.listParts(upload, {});
        expect(page.next).toBeUndefined();
        expect(page.parts.map(bare)).toEqual(parts.map(bare));
      });

      check('listParts: page by page all of them, each once', async () => {
        const upload = await open(place()('a'));
        await Promise.all(times(5, (i) => store.uploadPart(upload, i + 1, bytes('x'))));
        const numbers: number[] = [];
        let continuation: string | undefined;
        let pages = 0;
        do {
          const page = await store.listParts(upload, {
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
        await store.abort(upload);
        await expectKind(store.listParts(upload, {}), 'no-such-upload');
        await expectKind(store.listParts(await completed(objects('completed')), {}), 'no-such-upload');
      });
    });

    describe('put, get and head', () => {
      check('put: the object is what was put', async () => {
        const object = place()('a');
        const metadata = { one: '1', two: 'zwei' };
        const { etag } = await store.put(object, bytes('hello'), { contentType: 'text/plain', metadata });
        const read = await store.get(object);
        expect(Buffer.from(read.body).toString()).toBe('hello');
        expect(read).toMatchObject({ etag, sizeBytes: 5, metadata });
        expect(Math.abs(read.lastModifiedMs - Date.now())).toBeLessThan(HOUR_MS);
        const { body: _, ...head } = read;
        await expect(store.head(object)).resolves.toEqual(head);
      });

      check('put: an empty object', async () => {
        const object = place()('a');
        await store.put(object, new Uint8Array(), {});
        expect((await store.get(object)).body).toHaveLength(0);
      });

      check('put: a large object comes back whole', async () => {
        const object = place()('a');
        const body = randomBytes(9 * 1024 * 1024 + 1);
        await store.put(object, body, {});
        expect(body.equals((await store.get(object)).body)).toBe(true);
      });

      check('put: reads and listings see each write that was answered', async () => {
        const object = place()('a');
        for (let i = 0; i < 20; i += 1) {
          const { etag } = await store.put(object, bytes(`version ${i}`), {});
          await expect(textOf(object)).resolves.toBe(`version ${i}`);
          expect((await store.head(object))?.etag).toBe(etag);
          expect((await store.list(object.bucket, object.key, {})).objects).toMatchObject([
            { key: object.key, etag },
          ]);
          if (i % 4 !== 3) continue;
          await store.delete(object, {});
          await expect(store.head(object)).resolves.toBeUndefined();
          await expect(store.list(object.bucket, object.key, {})).resolves.toEqual({
            objects: [],
            prefixes: [],
          });
        }
      });

      check('get: not-found where there is none', async () => {
        await expectKind(store.get(place()('a')), 'not-found');
      });

      check('head: undefined where there is none', async () => {
        await expect(store.head(place()('a'))).resolves.toBeUndefined();
      });

      check('getStream: the bytes of the object', async () => {
        const object = place()('a');
        const body = randomBytes(3 * 1024 * 1024 + 1);
        await store.put(object, body, {});
        expect((await buffer(await store.getStream(object))).equals(body)).toBe(true);
      });

      check('getStream: not-found where there is none', async () => {
        await expectKind(store.getStream(place()('a')), 'not-found');
      });

      check('getStream: may be left half-read', async () => {
        const object = place()('a');
        await store.put(object, randomBytes(3 * 1024 * 1024), {});
        const stream = await store.getStream(object);
        for await (const chunk of stream) {
          expect((chunk as Uint8Array).byteLength).toBeGreaterThan(0);
          break;
        }
        await expect(store.head(object)).resolves.toBeDefined();
      });
    });

    describe('put with a condition', () => {
      if (!capabilities.conditionalPut) {
        check('conditional put: unsupported without the capability', async () => {
          const object = place()('a');
          await expectKind(store.put(object, bytes('x'), { ifNoneMatch: '*' }), 'unsupported');
          await expectKind(store.put(object, bytes('x'), { ifMatch: '"x"' }), 'unsupported');
        });
        return;
      }

      check('put ifNoneMatch: only where there is none', async () => {
        const object = place()('a');
        await store.put(object, bytes('first'), { ifNoneMatch: '*' });
        await expectKind(store.put(object, bytes('second'), { ifNoneMatch: '*' }), 'precondition-failed');
        await expect(textOf(object)).resolves.toBe('first');
        await store.delete(object, {});
        await store.put(object, bytes('third'), { ifNoneMatch: '*' });
        await expect(textOf(object)).resolves.toBe('third');
      });

      check('put ifNoneMatch: of 8 at a time one succeeds', async () => {
        const objects = place();
        for (let round = 0; round < 10; round += 1) {
          const object = objects(`round-${round}`);
          const results = await Promise.allSettled(
            times(8, (i) => store.put(object, bytes(`writer ${i}`), { ifNoneMatch: '*' })),
          );
          const winner = expectOneWinner(results, 'precondition-failed', 'conflict');
          await expect(textOf(object)).resolves.toBe(`writer ${winner}`);
        }
      });

      check('put ifMatch: only over the object with this ETag', async () => {
        const object = place()('a');
        const first = await store.put(object, bytes('first'), {});
        const second = await store.put(object, bytes('second'), { ifMatch: first.etag });
        await expectKind(store.put(object, bytes('third'), { ifMatch: first.etag }), 'precondition-failed');
        await expect(textOf(object)).resolves.toBe('second');
        await store.put(object, bytes('fourth'), { ifMatch: second.etag });
        await expect(textOf(object)).resolves.toBe('fourth');
      });

      check('put ifMatch: precondition-failed where there is none', async () => {
        const object = place()('a');
        await expectKind(
          store.put(object, bytes('x'), { ifMatch: `"${'0'.repeat(32)}"` }),
          'precondition-failed',
        );
        await expect(store.head(object)).resolves.toBeUndefined();
      });

      check('put ifMatch: of 8 at a time one succeeds', async () => {
        const objects = place();
        for (let round = 0; round < 10; round += 1) {
          const object = objects(`round-${round}`);
          const { etag } = await store.put(object, bytes('before'), {});
          const results = await Promise.allSettled(
            times(8, (i) => store.put(object, bytes(`writer ${i}`), { ifMatch: etag })),
          );
          const winner = expectOneWinner(results, 'precondition-failed', 'conflict');
          await expect(textOf(object)).resolves.toBe(`writer ${winner}`);
        }
      });
    });

    describe('delete', () => {
      check('delete: removes the object, and may be repeated', async () => {
        const object = place()('a');
        await store.put(object, bytes('x'), {});
        await expect(store.delete(object, {})).resolves.toBe('deleted');
        await expect(store.head(object)).resolves.toBeUndefined();
        expect(['absent', 'deleted']).toContain(await store.delete(object, {}));
      });

      check('delete: leaves open uploads of the key alone', async () => {
        const object = place()('a');
        await store.put(object, bytes('old'), {});
        const { upload, parts } = await openWithPart(object);
        await store.delete(object, {});
        await store.complete(upload, parts, {});
        await expect(textOf(object)).resolves.toBe('content');
      });

      if (capabilities.conditionalDelete) {
        check('delete ifMatch: only the object with this ETag', async () => {
          const object = place()('a');
          const old = await store.put(object, bytes('old'), {});
          const { etag } = await store.put(object, bytes('new'), {});
          await expectKind(store.delete(object, { ifMatch: old.etag }), 'precondition-failed');
          await expect(textOf(object)).resolves.toBe('new');
          await expect(store.delete(object, { ifMatch: etag })).resolves.toBe('deleted');
          await expect(store.head(object)).resolves.toBeUndefined();
        });

        check('delete ifMatch: changes nothing where there is none', async () => {
          const object = place()('a');
          const result = store.delete(object, { ifMatch: `"${'0'.repeat(32)}"` });
          expect(['absent', 'deleted', 'precondition-failed']).toContain(await result.catch(kindOf));
          await expect(store.head(object)).resolves.toBeUndefined();
        });
      } else {
        check('delete ifMatch: unsupported without the capability', async () => {
          const object = place()('a');
          const { etag } = await store.put(object, bytes('x'), {});
          await expectKind(store.delete(object, { ifMatch: etag }), 'unsupported');
          await expect(textOf(object)).resolves.toBe('x');
        });
      }
    });

    describe('deleteMany', () => {
      check('deleteMany: removes what it names and nothing else', async () => {
        const objects = place();
        const names = times(30, (i) => `f-${i}`);
        await Promise.all(names.map((name) => store.put(objects(name), bytes(name), {})));
        const doomed = names.slice(1).map((name) => objects(name).key);
        await expect(store.deleteMany(running.bucket, doomed)).resolves.toEqual({ failed: [] });
        expect((await listAll(objects('').key)).keys).toEqual([objects('f-0').key]);
      });

      check('deleteMany: absent ones count as removed', async () => {
        const objects = place();
        await store.put(objects('there'), bytes('x'), {});
        const keys = [objects('there').key, objects('not-there').key];
        await expect(store.deleteMany(running.bucket, keys)).resolves.toEqual({ failed: [] });
        await expect(store.head(objects('there'))).resolves.toBeUndefined();
      });

      check('deleteMany: takes none and a thousand', async () => {
        await expect(store.deleteMany(running.bucket, [])).resolves.toEqual({ failed: [] });
        const objects = place();
        const keys = times(1_000, (i) => objects(`f-${i}`).key);
        await store.put({ bucket: running.bucket, key: keys.at(-1) ?? '' }, bytes('x'), {});
        await expect(store.deleteMany(running.bucket, keys)).resolves.toEqual({ failed: [] });
        expect((await listAll(objects('').key)).keys).toEqual([]);
      });

      check('deleteMany: takes keys as they are', async () => {
        const objects = place();
        const keys = ['a b', 'c+d', 'e%41', 'f&g', 'h<i>', '日本', '😀'].map((name) => objects(name).key);
        const bystander = objects('eA');
        for (const key of [...keys, bystander.key])
          await store.put({ bucket: running.bucket, key }, bytes('x'), {});
        await expect(store.deleteMany(running.bucket, keys)).resolves.toEqual({ failed: [] });
        expect((await listAll(objects('').key)).keys).toEqual([bystander.key]);
      });
    });

    describe('list', () => {
      check('list: keys ascend by the bytes of their UTF-8', async () => {
        const objects = place();
        const names = ['a', 'B', 'a-', 'a.b', 'a0', 'é', '日本', '～', '😀', 'Z', '_', '~', 'aa/b', 'aa-'];
        for (const name of names) await store.put(objects(name), bytes(name), {});
        const { keys } = await listAll(objects('').key);
        expect(keys).toEqual(names.map((name) => objects(name).key).sort(compareUtf8));
      });

      check('list: key, size, ETag and date of each', async () => {
        const object = place()('a');
        const { etag } = await store.put(object, bytes('four'), {});
        const { objects, prefixes, next } = await store.list(running.bucket, object.key, {});
        expect({ prefixes, next }).toEqual({ prefixes: [], next: undefined });
        expect(objects).toMatchObject([{ key: object.key, etag, sizeBytes: 4 }]);
        expect(Math.abs((objects[0]?.lastModifiedMs ?? 0) - Date.now())).toBeLessThan(HOUR_MS);
      });

      check('list: page by page all of them, each once', async () => {
        const objects = place();
        const names = times(7, (i) => `f-${i}`);
        await Promise.all(names.map((name) => store.put(objects(name), bytes(name), {})));
        const { keys, pages } = await listAll(objects('').key, { maxKeys: 3 });
        expect(keys).toEqual(names.map((name) => objects(name).key));
        expect(pages).toBe(3);
      });

      check('list: a full last page has no next', async () => {
        const objects = place();
        await Promise.all(times(4, (i) => store.put(objects(`f-${i}`), bytes('x'), {})));
        expect((await listAll(objects('').key, { maxKeys: 2 })).pages).toBe(2);
      });

      check('list: startAfter leaves out up to this key', async () => {
        const objects = place();
        const names = ['a', 'b', 'c', 'd', 'e'];
        for (const name of names) await store.put(objects(name), bytes(name), {});
        const after = async (startAfter: string): Promise<string[]> =>
          (await listAll(objects('').key, { startAfter: objects(startAfter).key, maxKeys: 2 })).keys;
        expect(await after('b')).toEqual(['c', 'd', 'e'].map((name) => objects(name).key));
        expect(await after('bb')).toEqual(['c', 'd', 'e'].map((name) => objects(name).key));
        expect(await after('e')).toEqual([]);
      });

      check('list: a delimiter folds what goes on after it', async () => {
        const objects = place();
        const names = ['a', 'b/1', 'b/2/3', 'c/1', 'd'];
        for (const name of names) await store.put(objects(name), bytes(name), {});
        const { keys, prefixes } = await listAll(objects('').key, { delimiter: '/' });
        expect(keys).toEqual([objects('a').key, objects('d').key]);
        expect(prefixes).toEqual([objects('b/').key, objects('c/').key]);
      });

      check('list: folded keys page by page, each once', async () => {
        const objects = place();
        for (const name of ['a', 'b/1', 'b/2', 'b/3', 'c/1', 'c/2', 'd', 'e/1']) {
          await store.put(objects(name), bytes(name), {});
        }
        for (const maxKeys of [1, 2, 3]) {
          const { keys, prefixes } = await listAll(objects('').key, { delimiter: '/', maxKeys });
          expect(keys).toEqual([objects('a').key, objects('d').key]);
          expect(prefixes).toEqual(['b/', 'c/', 'e/'].map((name) => objects(name).key));
        }
      });

      check('list: a prefix is no folder', async () => {
        const objects = place();
        for (const name of ['name', 'name-1', 'name/x', 'nam'])
          await store.put(objects(name), bytes(name), {}).catch(() => undefined);
        const { keys } = await listAll(objects('name-').key);
        expect(keys).toEqual([objects('name-1').key]);
        expect((await listAll(objects('zzz').key)).keys).toEqual([]);
      });

      check('list: a key may be the folder of another', async () => {
        const objects = place();
        await store.put(objects('fc'), bytes('file'), {});
        await store.put(objects('fc/under'), bytes('under'), {});
        await expect(textOf(objects('fc'))).resolves.toBe('file');
        await expect(textOf(objects('fc/under'))).resolves.toBe('under');
      });
    });

    describe('keys are plain text', () => {
      for (const name of [...SPECIAL_KEYS, 'a//b', 'segment-' + 's'.repeat(300)]) {
        check(`key: ${name.slice(0, 30)}`, async () => {
          const objects = place();
          const object = objects(name);
          await store.put(object, bytes('put'), {});
          await expect(textOf(object)).resolves.toBe('put');
          expect((await listAll(objects('').key)).keys).toEqual([object.key]);
          await completed(object, bytes('completed'));
          await expect(textOf(object)).resolves.toBe('completed');
          await expect(store.head(object)).resolves.toMatchObject({ sizeBytes: 9 });
          await store.delete(object, {});
          await expect(store.head(object)).resolves.toBeUndefined();
        });
      }

      check('key: an encoded one is another than what it decodes to', async () => {
        const objects = place();
        await store.put(objects('x%41'), bytes('encoded'), {});
        await expect(store.head(objects('xA'))).resolves.toBeUndefined();
        await store.put(objects('xA'), bytes('decoded'), {});
        await expect(textOf(objects('x%41'))).resolves.toBe('encoded');
      });
    });

    describe('presignPart', () => {
      if (!capabilities.presign) {
        check('presignPart: unsupported without the capability', async () => {
          await expectKind(store.presignPart(await open(place()('a')), 1, 60), 'unsupported');
        });
        return;
      }

      check('presignPart: anybody may send the part', async () => {
        const object = place()('a');
        const upload = await open(object);
        const signed = await store.presignPart(upload, 1, 600);
        expect(signed.method).toBe('PUT');
        const { status, etag } = await running.putSigned(signed.url, signed.headers, bytes('signed'));
        expect(status).toBe(200);
        const { parts } = await store.listParts(upload, {});
        expect(parts.map(bare)).toEqual([bare({ partNumber: 1, sizeBytes: 6, etag: etag ?? 'none' })]);
        await store.complete(upload, [{ partNumber: 1, etag: etag ?? '' }], {});
        await expect(textOf(object)).resolves.toBe('signed');
      });

      check('presignPart: an empty part', async () => {
        if (!capabilities.emptyParts) return;
        const object = place()('a');
        const upload = await open(object);
        const { url, headers } = await store.presignPart(upload, 1, 600);
        const { status, etag } = await running.putSigned(url, headers, new Uint8Array());
        expect(status).toBe(200);
        await store.complete(upload, [{ partNumber: 1, etag: etag ?? '' }], {});
        await expect(store.head(object)).resolves.toMatchObject({ sizeBytes: 0 });
      });

      check('presignPart: keys with special characters', async () => {
        const objects = place();
        for (const name of ["a b+c&d=e#f?g%h%41'(!*)", 'é/日本/😀', '~@:;,$']) {
          const upload = await open(objects(name));
          const { url, headers } = await store.presignPart(upload, 1, 600);
          const { status } = await running.putSigned(url, headers, bytes('signed'));
          expect(status, name).toBe(200);
          expect((await store.listParts(upload, {})).parts).toHaveLength(1);
        }
      });

      check('presignPart: 403 with another signature, part, key or upload', async () => {
        const objects = place();
        const upload = await open(objects('a'));
        const { url, headers } = await store.presignPart(upload, 1, 600);
        const changed = [
          url.replace(
            /(signature=)([0-9a-f])/i,
            (_, name: string, digit: string) => name + (digit === '0' ? '1' : '0'),
          ),
          url.replace('partNumber=1', 'partNumber=2'),
          url.replace(/\/a\?|%2Fa\?/, (found) => found.replace('a', 'b')),
        ];
        for (const other of changed) {
          expect(other).not.toBe(url);
          expect((await running.putSigned(other, headers, bytes('x'))).status).toBe(403);
        }
        expect((await store.listParts(upload, {})).parts).toEqual([]);
      });

      check('presignPart: 403 when the time is over', async () => {
        const upload = await open(place()('a'));
        const { url, headers, expiresAtMs } = await store.presignPart(upload, 1, 1);
        expect(expiresAtMs).toBeLessThanOrEqual(Date.now() + 1_000);
        await new Promise((resolve) => setTimeout(resolve, 2_500));
        expect((await running.putSigned(url, headers, bytes('x'))).status).toBe(403);
      });

      check('presignPart: never longer than 15 minutes', async () => {
        const before = Date.now();
        const { expiresAtMs } = await store.presignPart(await open(place()('a')), 1, 86_400);
        expect(expiresAtMs).toBeGreaterThan(before + 800_000);
        expect(expiresAtMs).toBeLessThanOrEqual(Date.now() + 900_000);
      });

      check('presignPart: 404 when the upload has ended', async () => {
        const upload = await open(place()('a'));
        const { url, headers } = await store.presignPart(upload, 1, 600);
        await store.abort(upload);
        expect((await running.putSigned(url, headers, bytes('late'))).status).toBe(404);
      });
    });

    describe('errors', () => {
      check('errors: no-such-bucket', async () => {
        const object = { bucket: `missing-${randomUUID()}`, key: 'a' };
        const calls = [
          store.initiate(object, {}),
          store.put(object, bytes('x'), {}),
          store.get(object),
          store.list(object.bucket, '', {}),
        ];
        for (const call of await Promise.allSettled(calls)) {
          expect(call.status === 'rejected' ? kindOf(call.reason) : 'succeeded').toBe('no-such-bucket');
        }
      });

      check('errors: HEAD in a missing bucket finds nothing', async () => {
        const head = store.head({ bucket: `missing-${randomUUID()}`, key: 'a' });
        expect([undefined, 'no-such-bucket']).toContain(await head.catch(kindOf));
      });

      for (const [who, name] of [
        ['wrongSecret', 'errors: access-denied with a wrong secret'],
        ['unknownKey', 'errors: access-denied with an unknown key id'],
      ] as const) {
        check(name, async () => {
          if (running.refused === undefined) return;
          const stranger = running.refused[who];
          const object = place()('a');
          await expectKind(stranger.put(object, bytes('x'), {}), 'access-denied');
          await expectKind(stranger.get(object), 'access-denied');
          await expectKind(stranger.head(object), 'access-denied');
          await expectKind(stranger.initiate(object, {}), 'access-denied');
          await expectKind(stranger.list(object.bucket, '', {}), 'access-denied');
          await expect(store.head(object)).resolves.toBeUndefined();
        });
      }

      check('errors: unavailable where nobody listens', async () => {
        if (running.unreachable === undefined) return;
        const object = place()('a');
        await expectKind(running.unreachable.put(object, bytes('x'), {}), 'unavailable');
        await expectKind(running.unreachable.head(object), 'unavailable');
      });

      check('errors: cancelled by a signal that has fired', async () => {
        const object = place()('a');
        const signal = AbortSignal.abort(new Error('enough'));
        await expectKind(store.put(object, bytes('x'), {}, { signal }), 'cancelled');
        await expectKind(store.head(object, { signal }), 'cancelled');
        await expectKind(store.list(object.bucket, object.key, {}, { signal }), 'cancelled');
        await expect(store.head(object)).resolves.toBeUndefined();
      });

      check('errors: cancelled by a signal that fires on the way', async () => {
        const object = place()('a');
        const controller = new AbortController();
        const put = store.put(object, randomBytes(4 * 1024 * 1024), {}, { signal: controller.signal });
        controller.abort();
        await expectKind(put, 'cancelled');
      });
    });

    describe('lifecycle', () => {
      check('lifecycle: rules, or undefined where the store does not tell', async () => {
        const rules = await store.lifecycle(running.bucket);
        for (const rule of rules ?? []) expect(rule.daysAfterInitiation).toBeGreaterThan(0);
      });
    });

    it('lists known gaps by names of tests', () => {
      expect(Object.keys(knownGaps).filter((name) => !names.has(name))).toEqual([]);
    });
  });
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text);
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** An id of the same form that is another's. */
function otherId(uploadId: string): string {
  return uploadId.replace(/[0-9a-zA-Z](?=[^0-9a-zA-Z]*$)/, (last) => (last === '0' ? '1' : '0'));
}

function bare<T extends CompletedPart>(part: T): T {
  return { ...part, etag: part.etag.replaceAll('"', '') };
}

function kindOf(error: unknown): StoreErrorKind | string {
  return error instanceof StoreError ? error.kind : `not a StoreError: ${String(error)}`;
}

async function expectKind(call: Promise<unknown>, kind: StoreErrorKind): Promise<void> {
  const outcome = await call.then(
    () => 'succeeded',
    (error: unknown) => (kindOf(error) === kind ? kind : `${kindOf(error)}: ${String(error)}`),
  );
  expect(outcome).toBe(kind);
}

function ignoreKinds(...kinds: StoreErrorKind[]): (error: unknown) => void {
  return (error) => {
    if (!(kinds as string[]).includes(kindOf(error))) throw error;
  };
}

/** The index of the only success; the others failed in one of these ways. */
function expectOneWinner(
  results: readonly PromiseSettledResult<unknown>[],
  ...kinds: readonly StoreErrorKind[]
): number {
  const winners = results.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
  const others = results.flatMap((result) => (result.status === 'rejected' ? [kindOf(result.reason)] : []));
  expect(others.filter((kind) => !(kinds as readonly string[]).includes(kind))).toEqual([]);
  expect(winners).toHaveLength(1);
  return winners[0] ?? -1;
}
