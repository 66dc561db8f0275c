import type { ObjectStore, StoreCapabilities } from '../../src/ports/object-store.js';

/** What a runner gives to the suite. */
export interface ConformanceTarget {
  readonly name: string;
  /** As configured for the store; the suite asks for no behaviour that isn't claimed here. */
  readonly capabilities: StoreCapabilities;
  /**
   * What this store is known to do otherwise, by the name of the test: reviewed lines. Such a test must fail; one that
   * passes, and a name that no test has, fails the suite. `sometimes` is for races, whose outcome isn't the same each
   * time: the test runs and its outcome doesn't count.
   */
  readonly knownGaps?: KnownGaps;
  /** Fails where the store can't be started: a suite that must run is never skipped. */
  start(): Promise<RunningTarget>;
}

export interface RunningTarget {
  readonly store: ObjectStore;
  /** An existing bucket that nobody else uses. */
  readonly bucket: string;
  /** What all keys begin with; for buckets that hold other things as well. */
  readonly keyPrefix?: string;
  /** Sends a PUT without any credentials. */
  putSigned(url: string, headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<SignedAnswer>;
  /** The same store with credentials that it must refuse, where it has any. */
  readonly refused?: { readonly wrongSecret: ObjectStore; readonly unknownKey: ObjectStore };
  /** A store at an address where nobody listens, where the adapter has addresses. */
  readonly unreachable?: ObjectStore;
  stop(): Promise<void>;
}

export interface SignedAnswer {
  readonly status: number;
  readonly etag: string | undefined;
}

export type KnownGaps = Readonly<Record<string, string | { readonly sometimes: string }>>;
