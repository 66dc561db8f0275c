import type { Readable } from 'node:stream';

/**
 * The port to an object store. One instance speaks to one endpoint with one set of credentials; buckets are
 * named in each call.
 *
 * The contract that the protocol stands on, and that the conformance suite checks on every adapter:
 * reads and listings see every write that was answered before them; put-if-absent is linearizable; an upload
 * id that was completed or aborted never completes again (it may answer a repeated Complete alike).
 *
 * Adapters do one request a call (paging is the caller's), never retry, and throw {@link StoreError} and
 * nothing else. Decorators retry, limit, time out and count. A condition or a call that the capabilities exclude is
 * `unsupported` and isn't sent: no store gets the chance to ignore it. Keys are plain text: nothing decodes them, an
 * adapter encodes them on the wire only. Every call takes a {@link CallOptions.signal}.
 */
export interface ObjectStore {
  /** What this store can do, as configured or probed. Callers ask this, never what product it is. */
  readonly capabilities: StoreCapabilities;

  /** Opens a multipart upload. Not idempotent: each call opens another. */
  initiate(object: ObjectRef, options: InitiateOptions, call?: CallOptions): Promise<string>;

  /** Writes one part. Idempotent by part number: the last one wins. `no-such-upload` once it has ended. */
  uploadPart(upload: UploadRef, partNumber: number, body: Uint8Array, call?: CallOptions): Promise<PartInfo>;

  /**
   * Makes the object of the parts visible, whole, at once. Fails with `no-such-upload` where the upload was
   * aborted and, on stores without {@link StoreCapabilities.idempotentComplete}, where it was completed;
   * with `precondition-failed` where `ifNoneMatch` is set and the key exists (the upload stays open);
   * with `conflict` where a concurrent write got in the way (the upload may be dead: look).
   * An error in the body of a 200 is an error.
   */
  complete(
    upload: UploadRef,
    parts: readonly CompletedPart[],
    options: CompleteOptions,
    call?: CallOptions,
  ): Promise<PutResult>;

  /**
   * Ends an upload without an object. `absent` where there is none of that id: completed, aborted or never there.
   * While a Complete of it is under way, servers answer either, and the object may come a moment after the answer:
   * who must know looks again when no such Complete can be under way any more.
   */
  abort(upload: UploadRef, call?: CallOptions): Promise<'aborted' | 'absent'>;

  /** One page of the open uploads under a prefix, in the store's order. `unsupported` without the capability. */
  listUploads(
    bucket: string,
    prefix: string,
    page: UploadPageOptions,
    call?: CallOptions,
  ): Promise<UploadPage>;

  /** One page of the parts of an open upload, ascending. `no-such-upload` once it has ended. */
  listParts(upload: UploadRef, page: PartPageOptions, call?: CallOptions): Promise<PartPage>;

  /**
   * Writes an object whole. With a condition that fails: `precondition-failed`, and nothing is changed. Where the store
   * can ignore `ifNoneMatch` and says so in its answer: see {@link PutOptions.oneShot}.
   */
  put(object: ObjectRef, body: Uint8Array, options: PutOptions, call?: CallOptions): Promise<PutResult>;

  /** Reads an object whole; `undefined` where there is none, which is what most looks at a job's state find. */
  get(object: ObjectRef, call?: CallOptions): Promise<ObjectBody | undefined>;

  /** Reads an object as a stream of bytes, for plans that are larger than a daemon's memory. `not-found` where there is none. */
  getStream(object: ObjectRef, call?: CallOptions): Promise<Readable>;

  /** Metadata of an object; `undefined` where there is none. */
  head(object: ObjectRef, call?: CallOptions): Promise<ObjectHead | undefined>;

  /**
   * Removes an object. `absent` where there is none (a store may not be able to tell and says `deleted`).
   * With `ifMatch` and another ETag: `precondition-failed`, and nothing is changed.
   */
  delete(object: ObjectRef, options: DeleteOptions, call?: CallOptions): Promise<'deleted' | 'absent'>;

  /** Removes up to 1,000 objects of one bucket. Absent ones count as removed; failures are in the result. */
  deleteMany(bucket: string, keys: readonly string[], call?: CallOptions): Promise<DeleteManyResult>;

  /**
   * One page of the objects under a prefix, ascending by the bytes of the key's UTF-8. With a delimiter, keys
   * that go on after it are folded into {@link ObjectPage.prefixes}.
   */
  list(bucket: string, prefix: string, page: ListPageOptions, call?: CallOptions): Promise<ObjectPage>;

  /** Signs an UploadPart request that anybody may send until it expires. Asks the store for nothing. */
  presignPart(upload: UploadRef, partNumber: number, expiresInSeconds: number): Promise<SignedRequest>;

  /**
   * Signs a put that the store refuses once its time is over, by the store's clock. Between signing and sending the
   * caller looks whether the put is still wanted, so that one that was under way for long can't land. Asks the
   * store for nothing. `unsupported` without {@link StoreCapabilities.presign}.
   */
  preparePut(object: ObjectRef, options: PutOptions, expiresInSeconds: number): Promise<PreparedPut>;

  /**
   * Sends it: as {@link put}, but `access-denied` once it has expired, and `expired-credentials` where those that it was
   * signed with no longer hold. After either, only one that is signed anew can succeed.
   */
  sendPut(prepared: PreparedPut, body: Uint8Array, call?: CallOptions): Promise<PutResult>;

  /** As {@link preparePut}, for a delete: what a store without conditional deletes has in their place. */
  prepareDelete(object: ObjectRef, expiresInSeconds: number): Promise<PreparedDelete>;

  /** Sends it: as {@link delete}, and refused as {@link sendPut} is. */
  sendDelete(prepared: PreparedDelete, call?: CallOptions): Promise<'deleted' | 'absent'>;

  /** Lifecycle rules that abort uploads, where the store tells; `undefined` where it doesn't. */
  lifecycle(bucket: string, call?: CallOptions): Promise<readonly AbortUploadsRule[] | undefined>;

  /** Gives sockets and timers back. No call may follow. */
  close(): Promise<void>;
}

export interface ObjectRef {
  readonly bucket: string;
  readonly key: string;
}

export interface UploadRef extends ObjectRef {
  readonly uploadId: string;
}

export interface CallOptions {
  /** Ends the call early with `cancelled`; the effect at the store is then unknown. */
  readonly signal?: AbortSignal;
  /**
   * The call, with its waits and repetitions, ends within this time, or ends with `timeout`: for a request that an
   * earlier read allowed and that must not reach the store much later. Kept by the decorators, not by adapters.
   */
  readonly withinMs?: number;
  /**
   * Repeat it at least this long where the store throttles or gives no answer, however many attempts that takes: for what
   * nobody waits for with a deadline. Kept by the decorators.
   */
  readonly patienceMs?: number;
}

export interface StoreCapabilities {
  /** `put` honours `ifNoneMatch: '*'`. Staging needs it. */
  readonly conditionalPut: boolean;
  /** `put` honours `ifMatch`. */
  readonly conditionalOverwrite: boolean;
  /** `complete` honours `ifNoneMatch: '*'`. */
  readonly conditionalComplete: boolean;
  /** Conditional Completes are so slow or so limited that only a job which must find nothing asks for them. */
  readonly dearConditionalComplete: boolean;
  /** `delete` honours `ifMatch`. */
  readonly conditionalDelete: boolean;
  /** `listUploads` lists by prefix, not by exact key only. */
  readonly listUploadsByPrefix: boolean;
  /** `presignPart` works. */
  readonly presign: boolean;
  /** A repeated Complete of a completed upload succeeds. */
  readonly idempotentComplete: boolean;
  /** All parts but the last must have one size. */
  readonly equalParts: boolean;
  /** A part of 0 bytes is taken, so that an empty file can be an upload. */
  readonly emptyParts: boolean;
  readonly minPartBytes: number;
  readonly maxPartBytes: number;
  readonly maxParts: number;
  readonly maxObjectBytes: number;
  /** Longest key in bytes of UTF-8. */
  readonly maxKeyBytes: number;
}

export interface InitiateOptions {
  readonly contentType?: string;
  /** User metadata, lower-case names; the finished object carries it. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface CompletedPart {
  readonly partNumber: number;
  /** With the quotes that the store sent, or without. */
  readonly etag: string;
}

export interface PartInfo extends CompletedPart {
  readonly sizeBytes: number;
}

export interface CompleteOptions {
  /** `'*'`: only where the key does not exist. */
  readonly ifNoneMatch?: '*';
}

export interface PutOptions {
  /** `'*'`: only where the key does not exist. */
  readonly ifNoneMatch?: '*';
  /** Only where the object has this ETag. */
  readonly ifMatch?: string;
  /**
   * Beside `ifNoneMatch`, for a fact that others decide by: an answer which shows that the store ignored the condition is
   * `unsupported`, though the put had its effect. Without it such a put is done, as an unconditional one: a store may
   * ignore conditions in some of its buckets, and a destination can do without.
   */
  readonly oneShot?: true;
  readonly contentType?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** How one-shot facts are put, and how it is found out whether a store can hold them. */
export const asOneShotFact: PutOptions = { ifNoneMatch: '*', oneShot: true };

export interface PreparedPut {
  readonly object: ObjectRef;
  readonly options: PutOptions;
  readonly expiresAtMs: number;
  readonly request?: PreparedRequest;
}

export interface PreparedDelete {
  readonly object: ObjectRef;
  readonly expiresAtMs: number;
  readonly request?: PreparedRequest;
}

/** Of the adapter that made it. A secret until it expires: never logged. */
export interface PreparedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The credentials, where the adapter has to know later which ones were refused. */
  readonly signedBy?: unknown;
}

export interface PutResult {
  readonly etag: string;
}

export interface DeleteOptions {
  /** Only where the object has this ETag. */
  readonly ifMatch?: string;
}

export interface DeleteManyResult {
  readonly failed: readonly { readonly key: string; readonly message: string }[];
}

export interface ObjectHead {
  readonly etag: string;
  readonly sizeBytes: number;
  /** By the store's clock, ms since the epoch. */
  readonly lastModifiedMs: number;
  /** User metadata; names in lower case, whatever the store answers. */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface ObjectBody extends ObjectHead {
  readonly body: Uint8Array;
}

export interface ListPageOptions {
  /** At most this many entries; default and maximum 1,000. */
  readonly maxKeys?: number;
  /** Only keys greater than this. */
  readonly startAfter?: string;
  /** From {@link ObjectPage.next} of the page before, with the same other options. */
  readonly continuation?: string;
  readonly delimiter?: '/';
}

export interface ObjectPage {
  readonly objects: readonly ListedObject[];
  readonly prefixes: readonly string[];
  /** `undefined` on the last page. */
  readonly next?: string;
}

export interface ListedObject {
  readonly key: string;
  readonly etag: string;
  readonly sizeBytes: number;
  readonly lastModifiedMs: number;
}

export interface UploadPageOptions {
  readonly maxUploads?: number;
  /** From {@link UploadPage.next} of the page before. */
  readonly continuation?: string;
}

export interface UploadPage {
  readonly uploads: readonly ListedUpload[];
  readonly next?: string;
}

export interface ListedUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly initiatedMs: number;
}

export interface PartPageOptions {
  readonly maxParts?: number;
  readonly continuation?: string;
}

export interface PartPage {
  readonly parts: readonly PartInfo[];
  readonly next?: string;
}

export interface SignedRequest {
  readonly method: 'PUT';
  /** A secret until it expires: never logged. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAtMs: number;
}

export interface AbortUploadsRule {
  readonly prefix: string;
  readonly daysAfterInitiation: number;
}

/** What a caller can do about a failed store call; the adapter's one classify function chooses. */
export type StoreErrorKind =
  | 'not-found' // no object of that key
  | 'no-such-upload'
  | 'no-such-bucket'
  | 'precondition-failed' // 412, or the store's word for it
  | 'conflict' // 409: a concurrent conditional write
  | 'invalid-parts' // order, size, number, ETag of parts
  | 'key-too-long'
  | 'access-denied'
  | 'expired-credentials' // fetch them again, then once more
  | 'throttled' // slow down, then repeat
  | 'unavailable' // 5xx, connection refused or reset; the effect is unknown
  | 'timeout' // no answer in time; the effect is unknown
  | 'cancelled' // by the caller's signal; the effect is unknown
  | 'unsupported' // this store has no such call
  | 'invalid'; // anything else that a repeat would not cure

export class StoreError extends Error {
  override readonly name = 'StoreError';

  constructor(
    readonly kind: StoreErrorKind,
    message: string,
    readonly details: {
      readonly status?: number;
      readonly code?: string;
      readonly retryAfterMs?: number;
      /**
       * An earlier attempt at this call may have had its effect: `precondition-failed`, `no-such-upload` and the like may
       * be the answer to our own success. Look before concluding.
       */
      readonly afterAmbiguousAttempt?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
  }

  /** Repeating the same call may succeed. Its effect may have happened all the same. */
  get isTransient(): boolean {
    switch (this.kind) {
      case 'throttled':
      case 'unavailable':
      case 'timeout':
        return true;
      case 'not-found':
      case 'no-such-upload':
      case 'no-such-bucket':
      case 'precondition-failed':
      case 'conflict':
      case 'invalid-parts':
      case 'key-too-long':
      case 'access-denied':
      case 'expired-credentials':
      case 'cancelled':
      case 'unsupported':
      case 'invalid':
        return false;
    }
  }
}

export function isStoreError(error: unknown, ...kinds: readonly StoreErrorKind[]): error is StoreError {
  return error instanceof StoreError && (kinds.length === 0 || kinds.includes(error.kind));
}
