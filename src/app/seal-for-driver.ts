import { CommitterError } from '../core/errors.js';
import { sealPendingset } from '../core/handle.js';
import { encodeAttemptRecord, type PendingSet } from '../core/records/attempt-record.js';
import type { AppContext } from './context.js';
import { fileCount } from './files-of.js';
import type { Job } from './job-directory.js';

/** One fits a message, and the clients of all languages take messages of 4 MiB unasked. */
const maxPendingsetBytes = 3 * 1024 * 1024;

/** What commitTask returns instead of writing it. The same files give the same bytes, on any daemon. */
export function sealForDriver(ctx: AppContext, job: Job, set: PendingSet): Uint8Array {
  const record = encodeAttemptRecord(set);
  const max = Math.min(maxPendingsetBytes, ctx.options.maxMessageBytes >> 1);
  if (record.length > max) {
    throw new CommitterError(
      'LIMIT_EXCEEDED',
      `task attempt ${set.attempt.id} has a pendingset of ${record.length} bytes, of ${fileCount(set)} files; the driver carries ${max} a task: let each task write fewer files, lower commitbridge.inline-limit, or set commitbridge.task-records to client`,
    );
  }
  return sealPendingset(job.hmacKey, record);
}
