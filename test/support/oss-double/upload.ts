import { randomBytes } from 'node:crypto';
import type { Bucket } from './bucket.js';
import { SortedMap } from './sorted-map.js';
import type { Content, ObjectHeaders } from './stored-object.js';

export interface Part extends Content {
  partNumber: number;
  lastModified: number;
}

/** A multipart upload. Once completed or aborted its id is dead. */
export class Upload {
  readonly uploadId = randomBytes(16).toString('hex').toUpperCase();
  readonly parts = new Map<number, Part>();
  /**
   * `aborted` only while parts are in flight that were sent before the abort: such a part lands all the same, can be
   * listed, and goes with another abort. Nothing completes it.
   */
  state: 'open' | 'completed' | 'aborted' = 'open';
  partsInFlight = 0;

  constructor(
    readonly key: string,
    readonly initiatedAt: number,
    readonly headers: ObjectHeaders,
  ) {}

  sortedParts(): Part[] {
    return [...this.parts.values()].sort((a, b) => a.partNumber - b.partNumber);
  }
}

export function addUpload(bucket: Bucket, upload: Upload): void {
  let ofKey = bucket.uploads.get(upload.key);
  if (ofKey === undefined) {
    ofKey = new SortedMap();
    bucket.uploads.set(upload.key, ofKey);
  }
  ofKey.set(upload.uploadId, upload);
}

/** Also one that was aborted, as long as it holds a part that came late. */
export function findUpload(bucket: Bucket, key: string, uploadId: string): Upload | undefined {
  return bucket.uploads.get(key)?.get(uploadId);
}

export function removeUpload(bucket: Bucket, upload: Upload): void {
  const ofKey = bucket.uploads.get(upload.key);
  ofKey?.delete(upload.uploadId);
  if (ofKey?.size === 0) bucket.uploads.delete(upload.key);
}
