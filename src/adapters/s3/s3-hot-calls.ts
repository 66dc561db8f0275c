import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  GetObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import type {
  CallOptions,
  CompletedPart,
  CompleteOptions,
  ObjectBody,
  ObjectRef,
  ObjectStore,
  PutOptions,
  PutResult,
  UploadRef,
} from '../../ports/object-store.js';
import { StoreError, isStoreError } from '../../ports/object-store.js';
import type { S3Connection } from './s3-connection.js';
import type { S3StoreOptions } from './s3-options.js';
import { addressOf, creationFields, headOf, uploadAddressOf } from './s3-shapes.js';

/**
 * The calls that a commit makes once a file or once a task. Apart from the others, so that a sender which costs
 * less than the SDK (1.2–2 ms of CPU a Complete) can take their place.
 */
export type S3HotCalls = Pick<ObjectStore, 'complete' | 'abort' | 'put' | 'get'>;

export class SdkHotCalls implements S3HotCalls {
  constructor(
    private readonly connection: S3Connection,
    private readonly options: S3StoreOptions,
  ) {}

  async complete(
    upload: UploadRef,
    parts: readonly CompletedPart[],
    options: CompleteOptions,
    call?: CallOptions,
  ): Promise<PutResult> {
    const command = new CompleteMultipartUploadCommand({
      ...uploadAddressOf(upload),
      MultipartUpload: {
        Parts: parts.map(({ partNumber, etag }) => ({ PartNumber: partNumber, ETag: etag })),
      },
      IfNoneMatch: options.ifNoneMatch,
    });
    const { ETag: etag } = await this.connection
      .run(call?.signal, (at) => this.client.send(command, at))
      .catch((error: unknown) => {
        throw isStoreError(error, 'not-found') ? noSuchUpload(error) : error;
      });
    // The SDK takes a 200 whose body ends in "</Error>" for a failure, but not one with a line break after it.
    if (etag === undefined)
      throw new StoreError('unavailable', 'the answer to a Complete has no ETag', { status: 200 });
    return { etag };
  }

  async abort(upload: UploadRef, call?: CallOptions): Promise<'aborted' | 'absent'> {
    const command = new AbortMultipartUploadCommand(uploadAddressOf(upload));
    try {
      await this.connection.run(call?.signal, (at) => this.client.send(command, at));
      return 'aborted';
    } catch (error) {
      if (isStoreError(error, 'no-such-upload')) return 'absent';
      throw error;
    }
  }

  async put(
    object: ObjectRef,
    body: Uint8Array,
    options: PutOptions,
    call?: CallOptions,
  ): Promise<PutResult> {
    const command = new PutObjectCommand({
      ...addressOf(object),
      ...creationFields(this.options, options),
      Body: body,
      IfNoneMatch: options.ifNoneMatch,
      IfMatch: options.ifMatch,
    });
    try {
      const { ETag: etag } = await this.connection.run(call?.signal, (at) => this.client.send(command, at));
      if (etag === undefined)
        throw new StoreError('unavailable', 'the answer to a put has no ETag', { status: 200 });
      return { etag };
    } catch (error) {
      // S3 answers If-Match on a key without an object by NoSuchKey; the port has one word for a failed condition.
      if (options.ifMatch !== undefined && isStoreError(error, 'not-found')) {
        throw new StoreError('precondition-failed', error.message, { ...error.details, cause: error });
      }
      throw error;
    }
  }

  async get(object: ObjectRef, call?: CallOptions): Promise<ObjectBody> {
    const command = new GetObjectCommand(addressOf(object));
    return this.connection.run(call?.signal, async (at) => {
      const answer = await this.client.send(command, at);
      const body = (await answer.Body?.transformToByteArray()) ?? new Uint8Array();
      return { ...headOf(answer), body };
    });
  }

  private get client(): S3Connection['client'] {
    return this.connection.client;
  }
}

/** s3proxy answers NoSuchKey to a Complete that a concurrent abort or Complete has overtaken. */
function noSuchUpload(error: StoreError): StoreError {
  return new StoreError('no-such-upload', error.message, { ...error.details, cause: error });
}
