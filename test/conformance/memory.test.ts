import { decorate } from '../../src/adapters/decorators/decorate.js';
import { MemoryObjectStore } from '../../src/adapters/memory/memory-object-store.js';
import { MEMORY_CAPABILITIES } from '../../src/adapters/memory/memory-options.js';
import { OSS_CAPABILITIES } from '../../src/adapters/oss/oss-options.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import { SystemRandom } from '../../src/adapters/system/random.js';
import type { ObjectStore, StoreCapabilities } from '../../src/ports/object-store.js';
import { isStoreError } from '../../src/ports/object-store.js';
import type { RunningTarget } from './conformance-target.js';
import { objectStoreSuite } from './object-store.suite.js';

const BARE: Partial<StoreCapabilities> = {
  conditionalPut: false,
  conditionalOverwrite: false,
  conditionalComplete: false,
  conditionalDelete: false,
  listUploadsByPrefix: false,
  presign: false,
  idempotentComplete: false,
  equalParts: true,
  emptyParts: false,
  minPartBytes: 1_024,
  maxParts: 100,
  maxKeyBytes: 512,
};

for (const [name, overrides, wrap] of [
  ['memory', {}, (store: ObjectStore) => store],
  ['memory, with nothing that is optional', BARE, (store: ObjectStore) => store],
  ['memory, with what OSS can do', OSS_CAPABILITIES, (store: ObjectStore) => store],
  ['memory, decorated', {}, decorated],
] as const) {
  const capabilities: StoreCapabilities = { ...MEMORY_CAPABILITIES, ...overrides };
  objectStoreSuite({ name, capabilities, start: () => Promise.resolve(start(capabilities, wrap)) });
}

/** Decorators keep the contract of what they wrap. */
function decorated(store: ObjectStore): ObjectStore {
  return decorate(store, {
    name: 'memory',
    clock: new SystemClock(),
    random: new SystemRandom(),
    metrics: { count: () => undefined, observe: () => undefined, gauge: () => undefined },
    retry: { attempts: 3, baseDelayMs: 1, maxDelayMs: 10 },
    limit: { requests: 4, transfers: 2 },
    timeout: { requestMs: 30_000, completeMs: 30_000 },
  });
}

function start(capabilities: StoreCapabilities, wrap: (store: ObjectStore) => ObjectStore): RunningTarget {
  const store = new MemoryObjectStore({ buckets: ['conformance', 'other'], capabilities });
  return {
    store: wrap(store),
    bucket: 'conformance',
    putSigned: async (url, _headers, body) => {
      try {
        const { etag } = await store.putSigned(url, body);
        return { status: 200, etag };
      } catch (error) {
        return { status: isStoreError(error) ? (error.details.status ?? 500) : 500, etag: undefined };
      }
    },
    stop: () => Promise.resolve(),
  };
}
