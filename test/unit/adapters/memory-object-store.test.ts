import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryObjectStore } from '../../../src/adapters/memory/memory-object-store.js';
import type { MemoryStoreOptions } from '../../../src/adapters/memory/memory-options.js';
import { compareUtf8 } from '../../../src/core/utf8.js';
import type { ListPageOptions, PartInfo, UploadRef } from '../../../src/ports/object-store.js';
import { VirtualClock } from './virtual-clock.js';

const object = { bucket: 'b', key: 'k' };

function memory(options: Partial<MemoryStoreOptions> = {}): MemoryObjectStore {
  return new MemoryObjectStore({ buckets: ['b'], ...options });
}

async function open(store: MemoryObjectStore): Promise<UploadRef> {
  return { ...object, uploadId: await store.initiate(object, {}) };
}

/** Holds the pause with this number, counted from the call of `hold`, until it is released. */
class Way {
  private countdown = Infinity;
  private open = (): void => undefined;

  readonly pause = (): Promise<void> => {
    this.countdown -= 1;
    if (this.countdown !== 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.open = resolve;
    });
  };

  hold(number: number): void {
    this.countdown = number;
  }

  release(): void {
    this.open();
  }
}

/** Sends a part, and ends the upload when the part has been let in but hasn't landed. */
async function overtaken(
  store: MemoryObjectStore,
  upload: UploadRef,
  way: Way,
  end: () => Promise<unknown> = () => store.abort(upload),
): Promise<PartInfo> {
  way.hold(2);
  const part = store.uploadPart(upload, 1, Buffer.from('late'));
  await new Promise((resolve) => setImmediate(resolve));
  await end();
  way.release();
  return part;
}

describe('MemoryObjectStore: parts under way at an abort', () => {
  it('may land; they are listed, never complete, and go with a second abort', async () => {
    const way = new Way();
    const store = memory({ pause: way.pause });
    const upload = await open(store);
    const landed = await overtaken(store, upload, way);
    expect(store.uploads()).toMatchObject([
      { uploadId: upload.uploadId, state: 'aborted', parts: [{ partNumber: 1 }] },
    ]);
    expect((await store.listUploads('b', '', {})).uploads).toHaveLength(1);
    expect((await store.listParts(upload, {})).parts).toHaveLength(1);
    await expect(store.complete(upload, [landed], {})).rejects.toMatchObject({ kind: 'no-such-upload' });
    await expect(store.abort(upload)).resolves.toBe('aborted');
    await expect(store.abort(upload)).resolves.toBe('absent');
    expect(store.uploads()).toEqual([]);
  });

  it('are refused where the store is told so', async () => {
    const way = new Way();
    const store = memory({ pause: way.pause, lateParts: false });
    await expect(overtaken(store, await open(store), way)).rejects.toMatchObject({ kind: 'no-such-upload' });
    expect(store.uploads()).toEqual([]);
  });

  it('never land after a Complete', async () => {
    const way = new Way();
    const store = memory({ pause: way.pause });
    const upload = await open(store);
    const first = await store.uploadPart(upload, 1, Buffer.from('first'));
    const late = overtaken(store, upload, way, () => store.complete(upload, [first], {}));
    await expect(late).rejects.toMatchObject({ kind: 'no-such-upload' });
    expect(Buffer.from(store.objects()[0]?.body ?? []).toString()).toBe('first');
  });
});

describe('MemoryObjectStore: what tests look at', () => {
  it('objects and open uploads, with all that is known of them', async () => {
    const clock = new VirtualClock();
    const store = memory({ clock, buckets: ['b', 'c'] });
    await store.put({ bucket: 'c', key: 'z' }, Buffer.from('z'), {
      metadata: { m: '1' },
      contentType: 'text/plain',
    });
    const upload = await open(store);
    await store.uploadPart(upload, 2, Buffer.from('two'));
    expect(store.uploads()).toMatchObject([
      { ...upload, state: 'open', initiatedMs: clock.nowMs(), parts: [{ partNumber: 2, sizeBytes: 3 }] },
    ]);
    expect(store.objects()).toMatchObject([
      {
        bucket: 'c',
        key: 'z',
        sizeBytes: 1,
        metadata: { m: '1' },
        contentType: 'text/plain',
        uploadId: undefined,
      },
    ]);
    expect(store.objects('b')).toEqual([]);
  });

  it('ETags are made as S3 makes them', async () => {
    const store = memory({ capabilities: { minPartBytes: 1 } });
    const md5 = (text: string): Buffer => createHash('md5').update(text).digest();
    const { etag } = await store.put(object, Buffer.from('whole'), {});
    expect(etag).toBe(`"${md5('whole').toString('hex')}"`);
    const upload = await open(store);
    const parts = [
      await store.uploadPart(upload, 1, Buffer.from('one')),
      await store.uploadPart(upload, 2, Buffer.from('two')),
    ];
    const whole = createHash('md5').update(md5('one')).update(md5('two')).digest('hex');
    await expect(store.complete(upload, parts, {})).resolves.toEqual({ etag: `"${whole}-2"` });
  });

  it('a repeated conditional Complete meets its own object: 412, as in S3', async () => {
    const store = memory();
    const upload = await open(store);
    const parts = [await store.uploadPart(upload, 1, Buffer.from('x'))];
    await store.complete(upload, parts, { ifNoneMatch: '*' });
    await expect(store.complete(upload, parts, { ifNoneMatch: '*' })).rejects.toMatchObject({
      kind: 'precondition-failed',
    });
  });

  it('all parts but the last have one size where the store wants that', async () => {
    const store = memory({ capabilities: { minPartBytes: 1, equalParts: true } });
    for (const [sizes, fails] of [
      [[4, 4, 2], false],
      [[4, 4, 4], false],
      [[4, 4, 5], true],
      [[4, 3, 2], true],
      [[4], false],
    ] as const) {
      const upload = await open(store);
      const parts = [];
      for (const [index, size] of sizes.entries()) {
        parts.push(await store.uploadPart(upload, index + 1, Buffer.alloc(size)));
      }
      const outcome = await store.complete(upload, parts, {}).then(
        () => 'done',
        (error: unknown) => (error as { kind: string }).kind,
      );
      expect(outcome, sizes.join()).toBe(fails ? 'invalid-parts' : 'done');
    }
  });

  it('metadata over 2 KiB is refused', async () => {
    const metadata = { m: 'x'.repeat(2_048) };
    await expect(memory().put(object, Buffer.from('x'), { metadata })).rejects.toMatchObject({
      kind: 'invalid',
    });
  });

  it('a call that is cancelled on its way back had its effect', async () => {
    const controller = new AbortController();
    let pauses = 0;
    const store = memory({
      pause: async () => {
        pauses += 1;
        if (pauses === 2) controller.abort();
        await Promise.resolve();
      },
    });
    await expect(
      store.put(object, Buffer.from('x'), {}, { signal: controller.signal }),
    ).rejects.toMatchObject({
      kind: 'cancelled',
    });
    expect(store.objects()).toHaveLength(1);
  });
});

describe('MemoryObjectStore: listings', () => {
  const key = fc.string({
    unit: fc.constantFrom('a', 'b', '/', 'é', '～', '😀'),
    minLength: 1,
    maxLength: 6,
  });

  it('are what a simple model lists, for any keys, prefixes and pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(key, { maxLength: 25 }),
        fc.string({ unit: fc.constantFrom('a', '/'), maxLength: 2 }),
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        fc.option(key, { nil: undefined }),
        async (keys, prefix, maxKeys, folds, startAfter) => {
          const store = memory();
          for (const each of keys) await store.put({ bucket: 'b', key: each }, Buffer.from('x'), {});
          const options: ListPageOptions = {
            maxKeys,
            ...(folds && { delimiter: '/' as const }),
            ...(startAfter !== undefined && { startAfter }),
          };
          expect(await listAll(store, prefix, options)).toEqual(model(keys, prefix, folds, startAfter));
        },
      ),
      { numRuns: 300 },
    );
  });

  function model(keys: readonly string[], prefix: string, folds: boolean, startAfter = ''): string[] {
    const found = keys
      .filter((each) => each.startsWith(prefix) && compareUtf8(each, startAfter) > 0)
      .map((each) => {
        const at = folds ? each.indexOf('/', prefix.length) : -1;
        return at < 0 ? each : `${each.slice(0, at + 1)} (prefix)`;
      });
    return [...new Set(found)].sort(compareUtf8);
  }

  async function listAll(
    store: MemoryObjectStore,
    prefix: string,
    options: ListPageOptions,
  ): Promise<string[]> {
    const all: string[] = [];
    let continuation: string | undefined;
    do {
      const page = await store.list('b', prefix, {
        ...options,
        ...(continuation !== undefined && { continuation }),
      });
      const found = [
        ...page.objects.map((each) => each.key),
        ...page.prefixes.map((each) => `${each} (prefix)`),
      ];
      if (page.next !== undefined) expect(found).toHaveLength(options.maxKeys ?? 0);
      all.push(...found.sort(compareUtf8));
      continuation = page.next;
    } while (continuation !== undefined);
    return all.sort(compareUtf8);
  }
});
