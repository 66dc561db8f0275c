import { CommitterError } from '../core/errors.js';
import { verifyHandle } from '../core/handle.js';
import type { TaskAttempt } from '../core/ids.js';
import type { UploadIdentity } from '../core/records/attempt-record.js';
import { formatUri, isKeyWithin, parseUri, quote, type StoreUri } from '../core/uri.js';
import { utf8Length } from '../core/utf8.js';
import type { Job } from './job-directory.js';

/** A pending file as a caller hands it back. */
export interface FileRef {
  readonly uri: string;
  readonly uploadId: string;
  readonly commitbridgeId: string;
  readonly handle: Uint8Array;
}

/**
 * The final key of a file of a job.
 *
 * @throws CommitterError INVALID_FIELD, PATH_OUTSIDE_DESTINATION, KEY_TOO_LONG
 */
export function parseFileUri(job: Job, text: string): StoreUri {
  const uri = parseUri(text, 'uri');
  const { destination, root } = job;
  const inside =
    uri.scheme === destination.scheme &&
    uri.bucket === destination.bucket &&
    uri.key !== destination.key &&
    isKeyWithin(destination.key, uri.key);
  if (!inside || text.endsWith('/')) {
    throw new CommitterError(
      'PATH_OUTSIDE_DESTINATION',
      `${quote(text)} is not a file below the job's destination ${formatUri(destination)}`,
    );
  }
  if (root.staging.bucket === uri.bucket && isKeyWithin(root.staging.key, uri.key)) {
    throw new CommitterError('PATH_OUTSIDE_DESTINATION', `${quote(text)} lies in the staging root: move roots[].staging`);
  }
  const { maxKeyBytes } = root.store.capabilities;
  if (utf8Length(uri.key) > maxKeyBytes) {
    throw new CommitterError(
      'KEY_TOO_LONG',
      `the final key has ${utf8Length(uri.key)} bytes of UTF-8, the store takes ${maxKeyBytes}: shorten the destination, partition values or file names; ${quote(uri.key)}`,
    );
  }
  return uri;
}

/** @throws CommitterError FORGED_HANDLE besides those of {@link parseFileUri} */
export function parseFile(job: Job, attempt: TaskAttempt, file: FileRef): UploadIdentity {
  const { bucket, key } = parseFileUri(job, file.uri);
  const identity = { bucket, key, uploadId: file.uploadId, commitbridgeId: file.commitbridgeId };
  const claims = { token: job.token, jobAttempt: job.jobAttempt, attempt, ...identity };
  if (!verifyHandle(job.hmacKey, claims, file.handle)) {
    throw new CommitterError(
      'FORGED_HANDLE',
      `the handle of ${quote(file.uri)} was not made for job ${job.token}, attempt ${attempt.id} and this upload: pass on what OpenFile returned, unchanged`,
    );
  }
  return identity;
}
