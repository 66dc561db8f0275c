import type { InitiateOptions, ObjectHead, ObjectRef, UploadRef } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';
import type { S3StoreOptions } from './s3-options.js';

/** Shapes of the port as the SDK's or as headers, and back. */

export function addressOf(object: ObjectRef): { Bucket: string; Key: string } {
  return { Bucket: object.bucket, Key: object.key };
}

export function uploadAddressOf(upload: UploadRef): { Bucket: string; Key: string; UploadId: string } {
  return { ...addressOf(upload), UploadId: upload.uploadId };
}

/** What a new object gets, whether by one put or by an upload. Names in lower case, as they are signed. */
export function creationHeaders(
  { storageClass, sse }: S3StoreOptions,
  { contentType, metadata }: InitiateOptions,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (contentType !== undefined) headers['content-type'] = contentType;
  if (storageClass !== undefined) headers['x-amz-storage-class'] = storageClass;
  if (sse !== undefined) headers['x-amz-server-side-encryption'] = sse.mode;
  if (sse?.mode === 'aws:kms' && sse.kmsKeyId !== undefined)
    headers['x-amz-server-side-encryption-aws-kms-key-id'] = sse.kmsKeyId;
  for (const [name, value] of Object.entries(metadata ?? {}))
    headers[`x-amz-meta-${name.toLowerCase()}`] = value;
  return headers;
}

export interface SdkHead {
  readonly ETag?: string | undefined;
  readonly ContentLength?: number | undefined;
  readonly LastModified?: Date | undefined;
  readonly Metadata?: Record<string, string> | undefined;
}

export function headOf({ ETag, ContentLength, LastModified, Metadata }: SdkHead): ObjectHead {
  return {
    etag: known(ETag, 'ETag'),
    sizeBytes: known(ContentLength, 'Content-Length'),
    lastModifiedMs: known(LastModified, 'Last-Modified').getTime(),
    metadata: Object.fromEntries(
      // Some servers give names back as they were written, or in title case.
      Object.entries(Metadata ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    ),
  };
}

/**
 * The SDK types every field of an answer as optional, and reads a page that a proxy sent with a 200 as an answer without
 * any: a listing would be empty. The next answer may be the store's own.
 */
export function known<T>(value: T | undefined, field: string): T {
  if (value === undefined) {
    throw new StoreError(
      'unavailable',
      `the answer is not one of an S3 store: it lacks ${field}; is there a proxy in between that answers itself?`,
      { status: 200 },
    );
  }
  return value;
}
