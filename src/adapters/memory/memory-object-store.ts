import { Readable } from 'node:stream';
import type { Clock } from '../../ports/clock.js';
import type {
  AbortUploadsRule,
  CallOptions,
  CompletedPart,
  CompleteOptions,
  DeleteManyResult,
  DeleteOptions,
  InitiateOptions,
  ListPageOptions,
  ObjectBody,
  ObjectHead,
  ObjectPage,
  ObjectRef,
  ObjectStore,
  PartInfo,
  PartPage,
  PartPageOptions,
  PreparedDelete,
  PreparedPut,
  PutOptions,
  PutResult,
  SignedRequest,
  StoreCapabilities,
  UploadPage,
  UploadPageOptions,
  UploadRef,
} from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';
import { decodeContinuation, encodeContinuation } from '../continuation.js';
import { requireCapability } from '../require-capability.js';
import { SystemClock } from '../system/clock.js';
import type { StoredObject } from './memory-bucket.js';
import {
  MemoryBucket,
  invalidParts,
  md5Etag,
  noSuchUpload,
  preconditionFailed,
  unquoted,
} from './memory-bucket.js';
import { listObjects, listUploads, pageSize } from './memory-listing.js';
import { MEMORY_CAPABILITIES } from './memory-options.js';
import type { MemoryStoreOptions, ObjectSnapshot, UploadSnapshot } from './memory-options.js';
import { SignedUrls } from './signed-urls.js';

const MAX_METADATA_BYTES = 2_048;

/**
 * A store in memory with the rules of S3's multipart uploads: for tests and for trying things out. Strongly
 * consistent; every effect is one synchronous step between two awaits.
 */
export class MemoryObjectStore implements ObjectStore {
  readonly capabilities: StoreCapabilities;
  private readonly buckets = new Map<string, MemoryBucket>();
  private readonly clock: Pick<Clock, 'nowMs'>;
  private readonly urls: SignedUrls;
  private uploadCount = 0;

  constructor(private readonly options: MemoryStoreOptions) {
    this.capabilities = { ...MEMORY_CAPABILITIES, ...options.capabilities };
    this.clock = options.clock ?? new SystemClock();
    const base = options.signedUrlBase ?? 'memory://store';
    this.urls = new SignedUrls(typeof base === 'string' ? () => base : base);
    for (const name of options.buckets) this.buckets.set(name, new MemoryBucket(this.capabilities));
  }

  initiate(object: ObjectRef, options: InitiateOptions, call?: CallOptions): Promise<string> {
    return this.effect(call, () => {
      const bucket = this.bucket(object.bucket);
      this.checkKey(object.key);
      const metadata = lowerCaseNames(options.metadata);
      const uploadId = this.options.nextUploadId?.() ?? this.countUpload();
      bucket.uploads.set([object.key, uploadId], {
        key: object.key,
        uploadId,
        initiatedMs: this.clock.nowMs(),
        contentType: options.contentType,
        metadata,
        parts: new Map(),
        state: { is: 'open' },
      });
      return uploadId;
    });
  }

  async uploadPart(
    ref: UploadRef,
    partNumber: number,
    body: Uint8Array,
    call?: CallOptions,
  ): Promise<PartInfo> {
    const copy = Uint8Array.from(body);
    // The request has arrived and its upload is there; the abort below may overtake it from here on.
    await this.effect(call, () => {
      this.checkPart(partNumber, copy);
      this.bucket(ref.bucket).openUpload(ref.key, ref.uploadId);
    });
    await this.options.partPause?.(ref);
    return this.effect(call, () => {
      const upload = this.bucket(ref.bucket).uploads.get([ref.key, ref.uploadId]);
      const lands = upload?.state.is === 'open' || (upload?.state.is === 'aborted' && this.lateParts);
      if (upload === undefined || !lands) throw noSuchUpload(ref.uploadId);
      const etag = md5Etag(copy);
      upload.parts.set(partNumber, { etag, body: copy });
      return { partNumber, etag, sizeBytes: copy.byteLength };
    });
  }

  complete(
    ref: UploadRef,
    parts: readonly CompletedPart[],
    options: CompleteOptions,
    call?: CallOptions,
  ): Promise<PutResult> {
    return this.effect(call, () => {
      if (options.ifNoneMatch !== undefined) requireCapability(this.capabilities, 'conditionalComplete');
      const bucket = this.bucket(ref.bucket);
      const nowMs = this.clock.nowMs();
      return { etag: bucket.complete(ref.key, ref.uploadId, parts, options.ifNoneMatch, nowMs) };
    });
  }

  abort(ref: UploadRef, call?: CallOptions): Promise<'aborted' | 'absent'> {
    return this.effect(call, () => {
      const upload = this.bucket(ref.bucket).uploads.get([ref.key, ref.uploadId]);
      if (upload === undefined || !MemoryBucket.isListed(upload)) return 'absent';
      upload.state = { is: 'aborted' };
      upload.parts.clear();
      return 'aborted';
    });
  }

  listUploads(
    bucket: string,
    prefix: string,
    page: UploadPageOptions,
    call?: CallOptions,
  ): Promise<UploadPage> {
    return this.effect(call, () => {
      requireCapability(this.capabilities, 'listUploadsByPrefix');
      return listUploads(this.bucket(bucket), prefix, page);
    });
  }

  listParts(ref: UploadRef, page: PartPageOptions, call?: CallOptions): Promise<PartPage> {
    return this.effect(call, () => {
      const upload = this.bucket(ref.bucket).uploads.get([ref.key, ref.uploadId]);
      if (upload === undefined || !MemoryBucket.isListed(upload)) throw noSuchUpload(ref.uploadId);
      const after = page.continuation === undefined ? 0 : Number(decodeContinuation(page.continuation)[0]);
      const left = partInfos(upload.parts).filter((part) => part.partNumber > after);
      const parts = left.slice(0, pageSize(page.maxParts));
      const last = parts.at(-1);
      if (last === undefined || parts.length === left.length) return { parts };
      return { parts, next: encodeContinuation([String(last.partNumber)]) };
    });
  }

  put(
    object: ObjectRef,
    body: Uint8Array,
    options: PutOptions,
    call?: CallOptions,
    expiresAtMs = Infinity,
  ): Promise<PutResult> {
    const copy = Uint8Array.from(body);
    return this.effect(call, () => {
      this.refuseExpired(expiresAtMs);
      this.checkCondition(options);
      const { objects } = this.bucket(object.bucket);
      this.checkKey(object.key);
      const metadata = lowerCaseNames(options.metadata);
      const existing = objects.get(object.key);
      if (options.ifNoneMatch !== undefined && existing !== undefined) {
        throw preconditionFailed('an object with this key exists');
      }
      if (options.ifMatch !== undefined) checkMatch(existing, options.ifMatch);
      const etag = md5Etag(copy);
      objects.set(object.key, {
        etag,
        body: copy,
        lastModifiedMs: this.clock.nowMs(),
        contentType: options.contentType,
        metadata,
        uploadId: undefined,
      });
      return { etag };
    });
  }

  get(object: ObjectRef, call?: CallOptions): Promise<ObjectBody | undefined> {
    return this.effect(call, () => {
      const stored = this.bucket(object.bucket).objects.get(object.key);
      return stored === undefined ? undefined : { ...headOf(stored), body: Uint8Array.from(stored.body) };
    });
  }

  async getStream(object: ObjectRef, call?: CallOptions): Promise<Readable> {
    const found = await this.get(object, call);
    if (found === undefined) {
      throw new StoreError('not-found', 'no such object', { status: 404, code: 'NoSuchKey' });
    }
    const { body } = found;
    const chunkBytes = 64 * 1024;
    return Readable.from(
      (function* chunks() {
        for (let at = 0; at < body.byteLength; at += chunkBytes) {
          yield Buffer.from(body.subarray(at, at + chunkBytes));
        }
      })(),
      { objectMode: false },
    );
  }

  head(object: ObjectRef, call?: CallOptions): Promise<ObjectHead | undefined> {
    return this.effect(call, () => {
      const stored = this.bucket(object.bucket).objects.get(object.key);
      return stored === undefined ? undefined : headOf(stored);
    });
  }

  delete(
    object: ObjectRef,
    options: DeleteOptions,
    call?: CallOptions,
    expiresAtMs = Infinity,
  ): Promise<'deleted' | 'absent'> {
    return this.effect(call, () => {
      this.refuseExpired(expiresAtMs);
      if (options.ifMatch !== undefined) requireCapability(this.capabilities, 'conditionalDelete');
      const { objects } = this.bucket(object.bucket);
      const existing = objects.get(object.key);
      if (existing === undefined) return 'absent';
      if (options.ifMatch !== undefined) checkMatch(existing, options.ifMatch);
      objects.delete(object.key);
      return 'deleted';
    });
  }

  deleteMany(bucket: string, keys: readonly string[], call?: CallOptions): Promise<DeleteManyResult> {
    return this.effect(call, () => {
      if (keys.length > 1_000) throw new StoreError('invalid', 'more than 1,000 keys in one call');
      const { objects } = this.bucket(bucket);
      for (const key of keys) objects.delete(key);
      return { failed: [] };
    });
  }

  list(bucket: string, prefix: string, page: ListPageOptions, call?: CallOptions): Promise<ObjectPage> {
    return this.effect(call, () => listObjects(this.bucket(bucket), prefix, page));
  }

  presignPart(ref: UploadRef, partNumber: number, expiresInSeconds: number): Promise<SignedRequest> {
    return this.effect(undefined, () => {
      requireCapability(this.capabilities, 'presign');
      return this.urls.sign(ref, partNumber, expiresInSeconds, this.clock.nowMs());
    });
  }

  /** What a store does with a PUT to a URL of {@link presignPart}; only path and query of it count. */
  async putSigned(url: string, body: Uint8Array, call?: CallOptions): Promise<PartInfo> {
    const { upload, partNumber } = this.urls.verify(url, this.clock.nowMs());
    return this.uploadPart(upload, partNumber, body, call);
  }

  preparePut(object: ObjectRef, options: PutOptions, expiresInSeconds: number): Promise<PreparedPut> {
    return this.effect(undefined, () => {
      requireCapability(this.capabilities, 'presign');
      this.checkCondition(options);
      return { object, options, expiresAtMs: this.clock.nowMs() + expiresInSeconds * 1_000 };
    });
  }

  sendPut(prepared: PreparedPut, body: Uint8Array, call?: CallOptions): Promise<PutResult> {
    return this.put(prepared.object, body, prepared.options, call, prepared.expiresAtMs);
  }

  prepareDelete(object: ObjectRef, expiresInSeconds: number): Promise<PreparedDelete> {
    return this.effect(undefined, () => {
      requireCapability(this.capabilities, 'presign');
      return { object, expiresAtMs: this.clock.nowMs() + expiresInSeconds * 1_000 };
    });
  }

  sendDelete({ object, expiresAtMs }: PreparedDelete, call?: CallOptions): Promise<'deleted' | 'absent'> {
    return this.delete(object, {}, call, expiresAtMs);
  }

  lifecycle(bucket: string, call?: CallOptions): Promise<readonly AbortUploadsRule[] | undefined> {
    return this.effect(call, () => {
      this.bucket(bucket);
      return this.options.lifecycle;
    });
  }

  /** Nothing to give back; several daemons of a test may share one store. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  /** All objects, in the order of buckets and keys. Synchronous: no call of the store can fall in between. */
  objects(bucket?: string): ObjectSnapshot[] {
    return this.snapshot(bucket, (name, { objects }) =>
      [...objects.from()].map(([key, stored]) => ({
        ...headOf(stored),
        bucket: name,
        key,
        body: stored.body,
        contentType: stored.contentType,
        uploadId: stored.uploadId,
      })),
    );
  }

  /** As {@link objects}, without copies: for tests that look after every request. */
  *entries(bucket: string): Generator<readonly [string, Readonly<StoredObject>]> {
    yield* this.bucket(bucket).objects.from();
  }

  /** What is at a key at this instant. */
  peek({ bucket, key }: ObjectRef): Readonly<StoredObject> | undefined {
    return this.bucket(bucket).objects.get(key);
  }

  /** All uploads that a listing would show. */
  uploads(bucket?: string): UploadSnapshot[] {
    return this.snapshot(bucket, (name, { uploads }) =>
      [...uploads.from()]
        .map(([, upload]) => upload)
        .filter((upload) => MemoryBucket.isListed(upload))
        .map(({ key, uploadId, initiatedMs, metadata, parts, state }) => ({
          bucket: name,
          key,
          uploadId,
          state: state.is === 'open' ? 'open' : 'aborted',
          initiatedMs,
          metadata,
          parts: partInfos(parts),
        })),
    );
  }

  private snapshot<T>(bucket: string | undefined, of: (name: string, bucket: MemoryBucket) => T[]): T[] {
    const all = [...this.buckets].filter(([name]) => bucket === undefined || name === bucket);
    return all.flatMap(([name, state]) => of(name, state));
  }

  private async effect<T>(call: CallOptions | undefined, act: () => T): Promise<T> {
    await this.turn(call);
    const result = act();
    await this.turn(call);
    return result;
  }

  private async turn(call: CallOptions | undefined): Promise<void> {
    await (this.options.pause?.() ?? Promise.resolve());
    if (call?.signal?.aborted === true) {
      throw new StoreError('cancelled', 'the call was cancelled', { cause: call.signal.reason });
    }
  }

  private get lateParts(): boolean {
    return this.options.lateParts ?? true;
  }

  private bucket(name: string): MemoryBucket {
    const bucket = this.buckets.get(name);
    if (bucket !== undefined) return bucket;
    throw new StoreError('no-such-bucket', `no such bucket: bucket=${name}`, {
      status: 404,
      code: 'NoSuchBucket',
    });
  }

  private checkCondition({ ifNoneMatch, ifMatch }: PutOptions): void {
    if (ifNoneMatch !== undefined) requireCapability(this.capabilities, 'conditionalPut');
    if (ifMatch !== undefined) requireCapability(this.capabilities, 'conditionalOverwrite');
  }

  private refuseExpired(expiresAtMs: number): void {
    if (this.clock.nowMs() > expiresAtMs) {
      throw new StoreError('access-denied', 'the signed request has expired', { status: 403 });
    }
  }

  private checkKey(key: string): void {
    if (key === '') throw new StoreError('invalid', 'the key is empty', { status: 400 });
    if (Buffer.byteLength(key) > this.capabilities.maxKeyBytes) {
      throw new StoreError('key-too-long', 'the key is too long', { status: 400, code: 'KeyTooLongError' });
    }
  }

  private checkPart(partNumber: number, body: Uint8Array): void {
    const { maxParts, maxPartBytes, emptyParts } = this.capabilities;
    if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > maxParts) {
      throw invalidParts('InvalidArgument', `a part number must be 1 to ${maxParts}`);
    }
    if (body.byteLength > maxPartBytes)
      throw invalidParts('EntityTooLarge', 'part larger than the store takes');
    if (body.byteLength === 0 && !emptyParts) throw invalidParts('MissingContentLength', 'the part is empty');
  }

  private countUpload(): string {
    this.uploadCount += 1;
    return `upload-${String(this.uploadCount).padStart(8, '0')}`;
  }
}

function headOf({ etag, body, lastModifiedMs, metadata }: StoredObject): ObjectHead {
  return { etag, sizeBytes: body.byteLength, lastModifiedMs, metadata };
}

function checkMatch(existing: StoredObject | undefined, etag: string): void {
  if (existing === undefined || unquoted(existing.etag) !== unquoted(etag)) {
    throw preconditionFailed('the object does not have this ETag');
  }
}

function partInfos(
  parts: ReadonlyMap<number, { readonly etag: string; readonly body: Uint8Array }>,
): PartInfo[] {
  return [...parts]
    .map(([partNumber, { etag, body }]) => ({ partNumber, etag, sizeBytes: body.byteLength }))
    .sort((a, b) => a.partNumber - b.partNumber);
}

function lowerCaseNames(metadata: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const lowered = Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const bytes = Object.entries(lowered).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name + value),
    0,
  );
  if (bytes > MAX_METADATA_BYTES) {
    throw new StoreError('invalid', 'more than 2 KiB of metadata', { status: 400, code: 'MetadataTooLarge' });
  }
  return lowered;
}
