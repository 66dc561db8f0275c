import { MemoryObjectStore } from '../../src/adapters/memory/memory-object-store.js';
import { MEMORY_CAPABILITIES } from '../../src/adapters/memory/memory-options.js';
import type { StoreCapabilities } from '../../src/ports/object-store.js';
import { isStoreError } from '../../src/ports/object-store.js';
import type { RunningTarget } from './conformance-target.js';
import { objectStoreSuite } from './object-store.suite.js';

const BARE: Partial<StoreCapabilities> = {
  conditionalPut: false,
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

for (const [name, overrides] of [
  ['memory', {}],
  ['memory, with nothing that is optional', BARE],
] as const) {
  const capabilities: StoreCapabilities = { ...MEMORY_CAPABILITIES, ...overrides };
  objectStoreSuite({ name, capabilities, start: () => Promise.resolve(start(capabilities)) });
}

function start(capabilities: StoreCapabilities): RunningTarget {
  const store = new MemoryObjectStore({ buckets: ['conformance', 'other'], capabilities });
  return {
    store,
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
