import type { RequestKind } from '../../src/adapters/decorators/intercepted-store.js';
import { MemoryObjectStore } from '../../src/adapters/memory/memory-object-store.js';
import type { ObjectRef, ObjectStore, StoreCapabilities, UploadRef } from '../../src/ports/object-store.js';
import type { FaultMode } from './faults.js';
import { SeededRandom } from './seeded-random.js';

/** An object as the checks see it. The same bytes are the same array each time. */
export interface RawObject {
  readonly body: Uint8Array;
  readonly metadata: Readonly<Record<string, string>>;
  readonly lastModifiedMs: number;
  readonly etag: string;
}

export interface RawUpload extends UploadRef {
  readonly state: 'open' | 'aborted';
}

/** A store that can also be looked at, at once and past everything that the engine says of itself. */
export interface RawStore extends ObjectStore {
  entries(bucket: string): Iterable<readonly [string, RawObject]>;
  peek(object: ObjectRef): RawObject | undefined;
  /** All that a listing would show. */
  uploads(bucket: string): readonly RawUpload[];
}

/** Modes in which the store, or the way to it, fails a request while the daemon lives. */
export type StoreMode = Extract<FaultMode, 'lost' | 'failed' | 'outage' | 'expired' | 'gone' | 'conflict'>;

/** The store of a world. */
export interface WorldStore {
  readonly raw: RawStore;
  /** What daemons send by, where it isn't `raw`: it may have credentials of its own. */
  readonly ofDaemons?: ObjectStore;
  /** So much goes on in real time: virtual time stands still meanwhile. */
  underWay(): number;
  /** Others may go on. */
  turn(): Promise<void>;
  /** Fails the request that `send` makes, in that way; where there is none, the network does. */
  readonly fail?: <T>(mode: StoreMode, kind: RequestKind, send: () => Promise<T>) => Promise<T>;
}

export interface WorldStoreSettings {
  readonly bucket: string;
  readonly seed: number;
  readonly capabilities: Partial<StoreCapabilities>;
  nowMs(): number;
  /** How long a part of this upload is under way, in virtual time. */
  partPause(uploadId: string): Promise<void>;
}

export type MakeWorldStore = (settings: WorldStoreSettings) => WorldStore;

/** In this process and in virtual time throughout: what happens in it follows from the seed. */
export const memoryStore: MakeWorldStore = ({ bucket, seed, capabilities, nowMs, partPause }) => {
  const schedule = new SeededRandom(seed ^ 0x5eed);
  const raw = new MemoryObjectStore({
    buckets: [bucket],
    clock: { nowMs },
    capabilities: { minPartBytes: 1, ...capabilities },
    partPause: ({ uploadId }) => partPause(uploadId),
    // Which of two requests that are under way comes first is the seed's choice.
    pause: async () => {
      for (let turns = schedule.below(4); turns >= 0; turns--) await Promise.resolve();
    },
  });
  return { raw, underWay: () => 0, turn: () => Promise.resolve() };
};
