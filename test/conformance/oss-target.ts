import { OssObjectStore } from '../../src/adapters/oss/oss-object-store.js';
import { OSS_CAPABILITIES, type OssStoreOptions } from '../../src/adapters/oss/oss-options.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import type { StoreCapabilities } from '../../src/ports/object-store.js';
import type { ConformanceTarget, KnownGaps, RunningTarget } from './conformance-target.js';
import { putByFetch } from './put-by-fetch.js';

/** Where nobody listens: the discard port. */
const NOBODY = 'http://127.0.0.1:9';

export interface OssServer {
  readonly options: OssStoreOptions & { readonly credentials: { readonly kind: 'static' } };
  /** An existing bucket that nobody else uses. */
  readonly bucket: string;
  readonly keyPrefix?: string;
  stop(): Promise<void>;
}

/** The oss adapter against a server that a launcher starts, or that is there. */
export function ossTarget(target: {
  readonly name: string;
  readonly capabilities?: Partial<StoreCapabilities>;
  readonly knownGaps?: KnownGaps;
  /** Where the server isn't where its name says. */
  readonly putSigned?: RunningTarget['putSigned'];
  readonly launch: () => Promise<OssServer>;
}): ConformanceTarget {
  const { name, capabilities = {}, knownGaps = {}, putSigned = putByFetch, launch } = target;
  return {
    name,
    capabilities: { ...OSS_CAPABILITIES, ...capabilities },
    knownGaps,
    start: async (): Promise<RunningTarget> => {
      const { options, bucket, keyPrefix, stop } = await launch();
      const storeOf = (changes: Partial<OssStoreOptions> = {}): OssObjectStore =>
        new OssObjectStore({ ...options, capabilities, ...changes }, new SystemClock());
      const stores = {
        store: storeOf(),
        wrongSecret: storeOf({ credentials: { ...options.credentials, accessKeySecret: 'wrong-secret' } }),
        unknownKey: storeOf({ credentials: { ...options.credentials, accessKeyId: 'NOBODY' } }),
        unreachable: storeOf({ endpoint: NOBODY, addressing: 'path' }),
      };
      const { store, wrongSecret, unknownKey, unreachable } = stores;
      return {
        ...{ store, bucket, unreachable },
        ...(keyPrefix === undefined ? {} : { keyPrefix }),
        refused: { wrongSecret, unknownKey },
        putSigned,
        stop: async () => {
          await Promise.all(Object.values(stores).map((each) => each.close()));
          await stop();
        },
      };
    },
  };
}
