import { CommitterError } from '../core/errors.js';
import { verifyHandle } from '../core/handle.js';
import type { TaskAttempt } from '../core/ids.js';
import type { UploadIdentity } from '../core/records/attempt-record.js';
import { successMarkerName } from '../core/records/success-marker.js';
import { formatUri, isKeyWithin, isWithin, joinKey, parseUri, quote, type StoreUri } from '../core/uri.js';
import { utf8Length } from '../core/utf8.js';
import type { ObjectStore } from '../ports/object-store.js';
import type { Job } from './job-directory.js';
import type { Roots } from './roots.js';

/** A pending file as a caller hands it back. */
export interface FileRef {
  readonly uri: string;
  readonly uploadId: string;
  readonly commitbridgeId: string;
  readonly handle: Uint8Array;
}

/** Where a file of a job may lie: its final place and the store of it. */
export interface FilePlace {
  readonly uri: StoreUri;
  readonly store: ObjectStore;
}

/**
 * The final place of a file of a job: below its destination, or, where the job was set up so, in any root that its
 * principal may use.
 *
 * @throws CommitterError INVALID_FIELD, PATH_OUTSIDE_DESTINATION, OUTSIDE_ROOTS, KEY_TOO_LONG
 */
export function parseFileUri(roots: Roots, job: Job, text: string): FilePlace {
  const uri = parseUri(text, 'uri');
  const { destination, record } = job;
  const isBelow = isWithin(destination, uri) && uri.key !== destination.key;
  if (text.endsWith('/') || (!isBelow && (!record.options.allowOtherLocations || uri.key === ''))) {
    throw new CommitterError(
      'PATH_OUTSIDE_DESTINATION',
      `${quote(text)} is not a file below the job's destination ${formatUri(destination)}`,
    );
  }
  const markerKey = joinKey(destination.key, successMarkerName);
  if (record.options.successMarker && uri.bucket === destination.bucket && isKeyWithin(markerKey, uri.key)) {
    throw new CommitterError(
      'INVALID_FIELD',
      `${quote(text)} is where the success marker goes, or below it: choose another name, or set mapreduce.fileoutputcommitter.marksuccessfuljobs to false`,
    );
  }
  const { store } = roots.resolve(uri, record.principal);
  const { maxKeyBytes } = store.capabilities;
  if (utf8Length(uri.key) > maxKeyBytes) {
    throw new CommitterError(
      'KEY_TOO_LONG',
      `the final key has ${utf8Length(uri.key)} bytes of UTF-8, the store takes ${maxKeyBytes}: shorten the destination, partition values or file names; ${quote(uri.key)}`,
    );
  }
  return { uri, store };
}

/** @throws CommitterError FORGED_HANDLE besides those of {@link parseFileUri} */
export function parseFile(roots: Roots, job: Job, attempt: TaskAttempt, file: FileRef): UploadIdentity {
  const { uri } = parseFileUri(roots, job, file.uri);
  const identity = { ...uri, uploadId: file.uploadId, commitbridgeId: file.commitbridgeId };
  const claims = { token: job.token, jobAttempt: job.jobAttempt, attempt, ...identity };
  if (!verifyHandle(job.hmacKey, claims, file.handle)) {
    throw new CommitterError(
      'FORGED_HANDLE',
      `the handle of ${quote(file.uri)} was not made for job ${job.token}, attempt ${attempt.id} and this upload: pass on what OpenFile returned, unchanged`,
    );
  }
  return identity;
}

/** @throws CommitterError INVALID_FIELD where it is no header's value */
export function checkContentType(contentType: string): void {
  if (contentType.length > 256 || !/^[\x20-\x7e]*$/.test(contentType)) {
    throw new CommitterError(
      'INVALID_FIELD',
      'content_type must be at most 256 characters of printable ASCII',
    );
  }
}
