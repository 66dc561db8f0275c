import { describe, expect, it } from 'vitest';
import { MemoryObjectStore } from '../../../src/adapters/memory/memory-object-store.js';
import { SystemClock } from '../../../src/adapters/system/clock.js';
import { SystemRandom } from '../../../src/adapters/system/random.js';
import { checkRoot, type Finding } from '../../../src/cli/check-root.js';
import type { RootConfig } from '../../../src/config/config.js';
import { type ObjectStore, StoreError } from '../../../src/ports/object-store.js';

const root: RootConfig = {
  index: 0,
  uri: 's3a://bucket/tables',
  location: { scheme: 's3', bucket: 'bucket', key: 'tables' },
  store: 'main',
  staging: { scheme: 's3', bucket: 'bucket', key: '.commitbridge/jobs' },
  principals: [],
  listing: 'never',
};

function memory(
  options: Partial<ConstructorParameters<typeof MemoryObjectStore>[0]> = {},
): MemoryObjectStore {
  return new MemoryObjectStore({ buckets: ['bucket'], ...options });
}

/** A store that does some calls otherwise. */
function altered(store: MemoryObjectStore, calls: Partial<ObjectStore>): ObjectStore {
  return new Proxy<ObjectStore>(store, {
    get(target, name) {
      const own: unknown = Reflect.get(calls, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

async function findingsOf(store: ObjectStore): Promise<Map<string, Finding>> {
  const findings = await checkRoot(root, store, { clock: new SystemClock(), random: new SystemRandom() });
  return new Map(findings.map((finding) => [finding.check, finding]));
}

describe('checkRoot', () => {
  it('finds a store that ignores If-None-Match on PUT', async () => {
    const store = memory();
    const findings = await findingsOf(
      altered(store, { put: (object, body, _options, call) => store.put(object, body, {}, call) }),
    );
    expect(findings.get('conditional put')).toMatchObject({
      status: 'unmet',
      message:
        'roots[0].staging (s3://bucket/.commitbridge/jobs) is on store main, which ignores If-None-Match: two ' +
        'daemons could both decide. Name a staging root on a bucket of a store that puts conditionally.',
    });
  });

  it('finds a store that ignores If-Match on DELETE, and one that only says so', async () => {
    const store = memory();
    const ignoring = altered(store, { delete: (object, _options, call) => store.delete(object, {}, call) });
    expect((await findingsOf(ignoring)).get('conditional delete')).toMatchObject({
      status: 'unmet',
      message: expect.stringContaining('set stores.main.capabilities.conditionalDelete to false') as string,
    });
    const modest = altered(store, { capabilities: { ...store.capabilities, conditionalDelete: false } });
    expect((await findingsOf(modest)).get('conditional delete')).toMatchObject({
      status: 'warn',
      message: 'the store can, but stores.main.capabilities.conditionalDelete is false: remove it.',
    });
  });

  it('finds a store that ignores If-None-Match on Complete', async () => {
    const store = memory();
    const findings = await findingsOf(
      altered(store, {
        complete: (upload, parts, _options, call) => store.complete(upload, parts, {}, call),
      }),
    );
    expect(findings.get('conditional complete')?.status).toBe('unmet');
  });

  it('finds a store that lists uploads for exact keys only', async () => {
    const store = memory();
    const findings = await findingsOf(
      altered(store, { listUploads: () => Promise.resolve({ uploads: [] }) }),
    );
    expect(findings.get('upload')).toMatchObject({
      status: 'unmet',
      message: expect.stringContaining('set stores.main.capabilities.listUploadsByPrefix to false') as string,
    });
  });

  it.each([
    ['', 3, 'warn', 'after 3 days: a job that runs longer loses its output. Make it 7.'],
    ['tables/a/', 1, 'warn', 'aborts uploads under "tables/a/" after 1 days'],
    ['', 14, 'ok', 'after 14 days; jobs must be shorter than that'],
    ['elsewhere/', 1, 'ok', 'no rule aborts uploads'],
  ])('judges a lifecycle rule on %j of %i days: %s', async (prefix, daysAfterInitiation, status, message) => {
    const findings = await findingsOf(memory({ lifecycle: [{ prefix, daysAfterInitiation }] }));
    expect(findings.get('lifecycle rule')).toMatchObject({
      status,
      message: expect.stringContaining(message) as string,
    });
  });

  it('tells how far the clocks are apart', async () => {
    const ahead = memory({ clock: { nowMs: () => Date.now() + 3_600_000 } });
    expect((await findingsOf(ahead)).get('clock')).toMatchObject({
      status: 'unmet',
      message: expect.stringContaining("this machine's clock and the store's differ by 3600.") as string,
    });
  });

  it.each([
    ['access-denied', 'failed', 'change stores.main.credentials'],
    [
      'no-such-bucket',
      'failed',
      "bucket bucket doesn't exist: create it, or change roots[0].uri or staging.",
    ],
    ['unavailable', 'unreachable', 'check stores.main.endpoint'],
    ['throttled', 'unreachable', 'try again later'],
    ['invalid', 'failed', 'boom (invalid, store main).'],
  ] as const)('stops at %s with a sentence', async (kind, status, message) => {
    const findings = await findingsOf(
      altered(memory(), { list: () => Promise.reject(new StoreError(kind, 'boom')) }),
    );
    expect([...findings.keys()]).toEqual(['reach']);
    expect(findings.get('reach')).toMatchObject({
      status,
      message: expect.stringContaining(message) as string,
    });
  });

  it('leaves nothing behind, whatever it finds', async () => {
    const store = memory();
    await findingsOf(altered(store, { complete: (upload, parts) => store.complete(upload, parts, {}) }));
    expect((await store.list('bucket', '', {})).objects).toEqual([]);
    expect((await store.listUploads('bucket', '', {})).uploads).toEqual([]);
  });
});
