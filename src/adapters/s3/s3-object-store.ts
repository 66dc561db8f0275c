import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketLifecycleConfigurationCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
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
import { StoreError, isStoreError } from '../../ports/object-store.js';
import { decodeContinuation, encodeContinuation } from '../continuation.js';
import { decodeKey } from '../decode-key.js';
import { relayStream } from '../relay-stream.js';
import { checkKey, checkPartNumber, checkPut } from '../check-request.js';
import { requireCapability } from '../require-capability.js';
import { BucketAddresses } from './bucket-addresses.js';
import { FencedRequests } from './fenced-requests.js';
import { LeanSender } from './lean-sender.js';
import { LeanTransport } from '../lean-transport.js';
import { PartPresigner } from './part-presigner.js';
import { S3Connection } from './s3-connection.js';
import { toStoreError } from './s3-errors.js';
import { S3HotCalls } from './s3-hot-calls.js';
import { S3_CAPABILITIES } from './s3-options.js';
import type { S3StoreOptions } from './s3-options.js';
import { addressOf, headOf, known, uploadAddressOf } from './s3-shapes.js';

/** S3 and what speaks its protocol, by the AWS SDK but for the hot calls. One request a call, no retries. */
export class S3ObjectStore implements ObjectStore {
  readonly capabilities: StoreCapabilities;
  private readonly connection: S3Connection;
  private readonly transport: LeanTransport;
  private readonly hot: S3HotCalls;
  private readonly presigner: PartPresigner;
  private readonly fenced: FencedRequests;

  constructor(
    private readonly options: S3StoreOptions,
    clock: Clock,
  ) {
    this.capabilities = { ...S3_CAPABILITIES, ...options.capabilities };
    this.connection = new S3Connection(options, clock);
    this.transport = new LeanTransport(options, clock);
    const addresses = new BucketAddresses(this.connection);
    const sender = new LeanSender(this.connection, addresses, this.transport, clock);
    this.hot = new S3HotCalls(this.connection, sender, options);
    this.presigner = new PartPresigner(this.connection, addresses, clock);
    this.fenced = new FencedRequests(sender, options, clock);
  }

  async initiate(object: ObjectRef, options: InitiateOptions, call?: CallOptions): Promise<string> {
    checkKey(this.capabilities, object.key);
    return this.hot.initiate(object, options, call);
  }

  async uploadPart(
    upload: UploadRef,
    partNumber: number,
    body: Uint8Array,
    call?: CallOptions,
  ): Promise<PartInfo> {
    checkPartNumber(this.capabilities, partNumber);
    const command = new UploadPartCommand({
      ...uploadAddressOf(upload),
      PartNumber: partNumber,
      Body: body,
      ContentLength: body.byteLength,
    });
    const answer = await this.connection.run(call?.signal, (at) => this.client.send(command, at));
    return { partNumber, etag: known(answer.ETag, 'ETag'), sizeBytes: body.byteLength };
  }

  async complete(
    upload: UploadRef,
    parts: readonly CompletedPart[],
    options: CompleteOptions,
    call?: CallOptions,
  ): Promise<PutResult> {
    if (options.ifNoneMatch !== undefined) requireCapability(this.capabilities, 'conditionalComplete');
    if (parts.length === 0) throw new StoreError('invalid-parts', 'a Complete needs at least one part');
    return this.hot.complete(upload, parts, options, call);
  }

  abort(upload: UploadRef, call?: CallOptions): Promise<'aborted' | 'absent'> {
    return this.hot.abort(upload, call);
  }

  async listUploads(
    bucket: string,
    prefix: string,
    page: UploadPageOptions,
    call?: CallOptions,
  ): Promise<UploadPage> {
    requireCapability(this.capabilities, 'listUploadsByPrefix');
    const [keyMarker, uploadIdMarker] =
      page.continuation === undefined ? [] : decodeContinuation(page.continuation);
    const command = new ListMultipartUploadsCommand({
      Bucket: bucket,
      Prefix: prefix,
      MaxUploads: page.maxUploads,
      KeyMarker: keyMarker,
      UploadIdMarker: uploadIdMarker,
      EncodingType: 'url',
    });
    const answer = await this.connection.run(call?.signal, (at) => this.client.send(command, at));
    const encoding = answer.EncodingType;
    const uploads = (answer.Uploads ?? []).map(({ Key, UploadId, Initiated }) => ({
      key: decodeKey(known(Key, 'Key'), encoding),
      uploadId: known(UploadId, 'UploadId'),
      initiatedMs: known(Initiated, 'Initiated').getTime(),
    }));
    if (!known(answer.IsTruncated, 'IsTruncated')) return { uploads };
    const nextKey = decodeKey(known(answer.NextKeyMarker, 'NextKeyMarker'), encoding);
    return { uploads, next: encodeContinuation([nextKey, answer.NextUploadIdMarker ?? '']) };
  }

  async listParts(upload: UploadRef, page: PartPageOptions, call?: CallOptions): Promise<PartPage> {
    const command = new ListPartsCommand({
      ...uploadAddressOf(upload),
      MaxParts: page.maxParts,
      PartNumberMarker: page.continuation,
    });
    const answer = await this.connection.run(call?.signal, (at) => this.client.send(command, at));
    const parts = (answer.Parts ?? []).map(({ PartNumber, ETag, Size }) => ({
      partNumber: known(PartNumber, 'PartNumber'),
      etag: known(ETag, 'ETag'),
      sizeBytes: known(Size, 'Size'),
    }));
    if (!known(answer.IsTruncated, 'IsTruncated')) return { parts };
    return { parts, next: known(answer.NextPartNumberMarker, 'NextPartNumberMarker') };
  }

  async put(
    object: ObjectRef,
    body: Uint8Array,
    options: PutOptions,
    call?: CallOptions,
  ): Promise<PutResult> {
    checkPut(this.capabilities, object, options);
    return this.hot.put(object, body, options, call);
  }

  get(object: ObjectRef, call?: CallOptions): Promise<ObjectBody | undefined> {
    return this.hot.get(object, call);
  }

  async getStream(object: ObjectRef, call?: CallOptions): Promise<Readable> {
    const command = new GetObjectCommand(addressOf(object));
    const answer = await this.connection.run(call?.signal, (at) => this.client.send(command, at));
    const body = known(answer.Body, 'Body') as Readable;
    return relayStream(body, { toError: (cause) => brokenStream(cause, call?.signal) });
  }

  async head(object: ObjectRef, call?: CallOptions): Promise<ObjectHead | undefined> {
    const command = new HeadObjectCommand(addressOf(object));
    try {
      return headOf(await this.connection.run(call?.signal, (at) => this.client.send(command, at)));
    } catch (error) {
      // A 404 of HEAD has no body to say more: a missing bucket looks alike.
      if (isStoreError(error) && error.details.status === 404) return undefined;
      throw error;
    }
  }

  async delete(object: ObjectRef, options: DeleteOptions, call?: CallOptions): Promise<'deleted' | 'absent'> {
    if (options.ifMatch !== undefined) requireCapability(this.capabilities, 'conditionalDelete');
    const command = new DeleteObjectCommand({ ...addressOf(object), IfMatch: options.ifMatch });
    try {
      await this.connection.run(call?.signal, (at) => this.client.send(command, at));
      return 'deleted';
    } catch (error) {
      if (isStoreError(error, 'not-found')) return 'absent';
      throw error;
    }
  }

  async deleteMany(bucket: string, keys: readonly string[], call?: CallOptions): Promise<DeleteManyResult> {
    if (keys.length === 0) return { failed: [] };
    const objects = keys.map((key) => ({ Key: key }));
    const command = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects, Quiet: true } });
    const answer = await this.connection.run(call?.signal, (at) => this.client.send(command, at));
    const failed = (answer.Errors ?? [])
      .filter(({ Code }) => Code !== 'NoSuchKey')
      .map(({ Key, Code, Message }) => ({ key: Key ?? '', message: `${Code ?? 'Error'}: ${Message ?? ''}` }));
    return { failed };
  }

  async list(bucket: string, prefix: string, page: ListPageOptions, call?: CallOptions): Promise<ObjectPage> {
    const command = new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: prefix,
      MaxKeys: page.maxKeys,
      Delimiter: page.delimiter,
      EncodingType: 'url',
      ...(page.continuation === undefined
        ? { StartAfter: page.startAfter }
        : { ContinuationToken: page.continuation }),
    });
    const answer = await this.connection.run(call?.signal, (at) => this.client.send(command, at));
    const encoding = answer.EncodingType;
    const objects = (answer.Contents ?? []).map(({ Key, ETag, Size, LastModified }) => ({
      key: decodeKey(known(Key, 'Key'), encoding),
      etag: known(ETag, 'ETag'),
      sizeBytes: known(Size, 'Size'),
      lastModifiedMs: known(LastModified, 'LastModified').getTime(),
    }));
    const prefixes = (answer.CommonPrefixes ?? []).map(({ Prefix }) =>
      decodeKey(known(Prefix, 'Prefix'), encoding),
    );
    if (!known(answer.IsTruncated, 'IsTruncated')) return { objects, prefixes };
    return { objects, prefixes, next: known(answer.NextContinuationToken, 'NextContinuationToken') };
  }

  async presignPart(upload: UploadRef, partNumber: number, expiresInSeconds: number): Promise<SignedRequest> {
    requireCapability(this.capabilities, 'presign');
    checkPartNumber(this.capabilities, partNumber);
    return this.connection.run(undefined, () => this.presigner.presign(upload, partNumber, expiresInSeconds));
  }

  async preparePut(object: ObjectRef, options: PutOptions, expiresInSeconds: number): Promise<PreparedPut> {
    requireCapability(this.capabilities, 'presign');
    checkPut(this.capabilities, object, options);
    return this.connection.run(undefined, () => this.fenced.prepare(object, options, expiresInSeconds));
  }

  sendPut(prepared: PreparedPut, body: Uint8Array, call?: CallOptions): Promise<PutResult> {
    return this.connection.run(call?.signal, () => this.fenced.send(prepared, body, call?.signal));
  }

  async prepareDelete(object: ObjectRef, expiresInSeconds: number): Promise<PreparedDelete> {
    requireCapability(this.capabilities, 'presign');
    return this.connection.run(undefined, () => this.fenced.prepareDelete(object, expiresInSeconds));
  }

  async sendDelete(prepared: PreparedDelete, call?: CallOptions): Promise<'deleted' | 'absent'> {
    try {
      await this.connection.run(call?.signal, () => this.fenced.sendDelete(prepared, call?.signal));
      return 'deleted';
    } catch (error) {
      if (isStoreError(error, 'not-found')) return 'absent';
      throw error;
    }
  }

  async lifecycle(bucket: string, call?: CallOptions): Promise<readonly AbortUploadsRule[] | undefined> {
    const command = new GetBucketLifecycleConfigurationCommand({ Bucket: bucket });
    try {
      const answer = await this.connection.run(call?.signal, (at) => this.client.send(command, at));
      return (answer.Rules ?? []).flatMap((rule) => {
        const days = rule.AbortIncompleteMultipartUpload?.DaysAfterInitiation;
        if (rule.Status !== 'Enabled' || days === undefined) return [];
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- old rules still have it in place of a filter
        const prefix = rule.Filter?.Prefix ?? rule.Filter?.And?.Prefix ?? rule.Prefix ?? '';
        return [{ prefix, daysAfterInitiation: days }];
      });
    } catch (error) {
      if (isStoreError(error) && error.details.code === 'NoSuchLifecycleConfiguration') return [];
      if (isStoreError(error, 'unsupported', 'access-denied')) return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.connection.close();
    await this.transport.close();
  }

  private get client(): S3Connection['client'] {
    return this.connection.client;
  }
}

function brokenStream(cause: unknown, signal: AbortSignal | undefined): StoreError {
  if (cause !== undefined || signal?.aborted === true) return toStoreError(cause, signal);
  return new StoreError('unavailable', 'the stream ended before the object did');
}
