import type { Clock } from '../../ports/clock.js';
import type {
  AbortUploadsRule,
  ObjectBody,
  PartInfo,
  StoreCapabilities,
  UploadRef,
} from '../../ports/object-store.js';

const MIB = 1024 * 1024;

/** S3's own limits, and all that a store can do. */
export const MEMORY_CAPABILITIES: StoreCapabilities = {
  conditionalPut: true,
  conditionalOverwrite: true,
  conditionalComplete: true,
  dearConditionalComplete: false,
  conditionalDelete: true,
  listUploadsByPrefix: true,
  presign: true,
  idempotentComplete: true,
  equalParts: false,
  emptyParts: true,
  minPartBytes: 5 * MIB,
  maxPartBytes: 5 * 1024 * MIB,
  maxParts: 10_000,
  maxObjectBytes: 5 * 1024 * 1024 * MIB,
  maxKeyBytes: 1_024,
};

export interface MemoryStoreOptions {
  /** Buckets that exist. A call on another one fails with `no-such-bucket`. */
  readonly buckets: readonly string[];
  readonly capabilities?: Partial<StoreCapabilities>;
  /** The store's clock, for dates and for the expiry of signed URLs. */
  readonly clock?: Pick<Clock, 'nowMs'>;
  /** Upload ids; a counter by default, so that runs repeat. Must never repeat. */
  readonly nextUploadId?: () => string;
  /** Awaited before and after each effect, so that calls interleave. One microtask turn by default. */
  readonly pause?: () => Promise<void>;
  /** A part under way when its upload is aborted lands afterwards, as it may in S3. True by default. */
  readonly lateParts?: boolean;
  /** Awaited between the arrival of a part, when its upload has to be open, and the moment at which it lands. */
  readonly partPause?: (upload: UploadRef) => Promise<void>;
  /** What signed URLs begin with, where a test serves them by {@link MemoryObjectStore.putSigned}. */
  readonly signedUrlBase?: string | (() => string);
  readonly lifecycle?: readonly AbortUploadsRule[];
}

/** What is in the store, for tests. */
export interface ObjectSnapshot extends ObjectBody {
  readonly bucket: string;
  readonly key: string;
  readonly contentType: string | undefined;
  /** The upload that made it; `undefined` for a put. */
  readonly uploadId: string | undefined;
}

export interface UploadSnapshot extends UploadRef {
  /** `aborted`: a part landed after the abort; it costs money until it is aborted again. */
  readonly state: 'open' | 'aborted';
  readonly initiatedMs: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly parts: readonly PartInfo[];
}
