import { createHash } from 'node:crypto';
import type { CompletedPart, StoreCapabilities } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';
import { SortedMap } from './sorted-map.js';
import { compareUtf8 } from '../../core/utf8.js';

export interface StoredObject {
  readonly etag: string;
  readonly body: Uint8Array;
  readonly lastModifiedMs: number;
  readonly contentType: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** The upload that made it; `undefined` for a put. */
  readonly uploadId: string | undefined;
}

export interface StoredPart {
  readonly etag: string;
  readonly body: Uint8Array;
}

export interface StoredUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly initiatedMs: number;
  readonly contentType: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly parts: Map<number, StoredPart>;
  /** An aborted or completed upload never completes again. `etag`: of the object that it became. */
  state: { readonly is: 'open' } | { readonly is: 'aborted' } | { readonly is: 'completed'; etag: string };
}

/** The state of one bucket. Methods are synchronous: each is one atomic effect. */
export class MemoryBucket {
  readonly objects = new SortedMap<string, StoredObject>(compareUtf8);
  /** All uploads that ever were, by key and then id, as S3 lists them. */
  readonly uploads = new SortedMap<readonly [string, string], StoredUpload>(
    (a, b) => compareUtf8(a[0], b[0]) || compareUtf8(a[1], b[1]),
  );

  constructor(private readonly capabilities: StoreCapabilities) {}

  /** Whether a listing shows it: open, or aborted with a part that landed afterwards. */
  static isListed(upload: StoredUpload): boolean {
    return upload.state.is === 'open' || (upload.state.is === 'aborted' && upload.parts.size > 0);
  }

  openUpload(key: string, uploadId: string): StoredUpload {
    const upload = this.uploads.get([key, uploadId]);
    if (upload?.state.is !== 'open') throw noSuchUpload(uploadId);
    return upload;
  }

  complete(
    key: string,
    uploadId: string,
    parts: readonly CompletedPart[],
    ifNoneMatch: '*' | undefined,
    nowMs: number,
  ): string {
    const upload = this.uploads.get([key, uploadId]);
    const existing = this.objects.get(key);
    // Before the look at the upload, as in S3: a repeated conditional Complete whose reply was lost gets a 412.
    if (upload !== undefined && ifNoneMatch !== undefined && existing !== undefined) {
      throw preconditionFailed('an object with this key exists');
    }
    if (upload?.state.is === 'completed' && this.capabilities.idempotentComplete) {
      if (existing?.uploadId === uploadId) return upload.state.etag;
    }
    if (upload?.state.is !== 'open') throw noSuchUpload(uploadId);

    const chosen = this.chooseParts(upload, parts);
    const etag = multipartEtag(chosen);
    this.objects.set(key, {
      etag,
      body: Buffer.concat(chosen.map((part) => part.body)),
      lastModifiedMs: nowMs,
      contentType: upload.contentType,
      metadata: upload.metadata,
      uploadId,
    });
    upload.state = { is: 'completed', etag };
    upload.parts.clear();
    return etag;
  }

  private chooseParts(upload: StoredUpload, parts: readonly CompletedPart[]): StoredPart[] {
    const { minPartBytes, maxParts, maxObjectBytes, equalParts } = this.capabilities;
    if (parts.length === 0) throw invalidParts('MalformedXML', 'a Complete needs at least one part');
    if (parts.length > maxParts) throw invalidParts('InvalidArgument', 'more parts than the store takes');
    const chosen: StoredPart[] = [];
    let previous = 0;
    let totalBytes = 0;
    for (const { partNumber, etag } of parts) {
      if (partNumber <= previous) throw invalidParts('InvalidPartOrder', 'part numbers must ascend');
      previous = partNumber;
      const part = upload.parts.get(partNumber);
      if (part === undefined || unquoted(part.etag) !== unquoted(etag)) {
        throw invalidParts('InvalidPart', `part ${partNumber} was not found or has another ETag`);
      }
      chosen.push(part);
      totalBytes += part.body.byteLength;
    }
    const firstBytes = chosen[0]?.body.byteLength ?? 0;
    chosen.forEach(({ body }, index) => {
      const isLast = index === chosen.length - 1;
      if (!isLast && body.byteLength < minPartBytes) {
        throw invalidParts('EntityTooSmall', `a part of ${body.byteLength} bytes is not the last`);
      }
      if (equalParts && (isLast ? body.byteLength > firstBytes : body.byteLength !== firstBytes)) {
        throw invalidParts('InvalidPart', 'all parts but the last must have one size');
      }
    });
    if (totalBytes > maxObjectBytes)
      throw invalidParts('EntityTooLarge', 'object larger than the store takes');
    return chosen;
  }
}

export function noSuchUpload(uploadId: string): StoreError {
  return new StoreError('no-such-upload', `no such upload: upload_id=${uploadId}`, {
    status: 404,
    code: 'NoSuchUpload',
  });
}

export function preconditionFailed(message: string): StoreError {
  return new StoreError('precondition-failed', message, { status: 412, code: 'PreconditionFailed' });
}

export function invalidParts(code: string, message: string): StoreError {
  return new StoreError('invalid-parts', message, { status: 400, code });
}

export function unquoted(etag: string): string {
  return etag.replace(/^"|"$/g, '');
}

export function md5Etag(body: Uint8Array): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

/** As S3 makes it: the MD5 of the parts' MD5s, and how many there were. */
function multipartEtag(parts: readonly StoredPart[]): string {
  const all = createHash('md5');
  for (const { etag } of parts) all.update(Buffer.from(unquoted(etag), 'hex'));
  return `"${all.digest('hex')}-${parts.length}"`;
}
