import type { TaskAttempt } from '../core/ids.js';
import type { AttemptRecord, PendingSet } from '../core/records/attempt-record.js';
import { isStoreError } from '../ports/object-store.js';
import { abortUploads } from './abort-uploads.js';
import { removeClosedFilesOf } from './closed-files.js';
import type { AppContext } from './context.js';
import type { Job } from './job-directory.js';

/**
 * Clears a pendingset that came after its job's decision and that the decision does not list: nobody will ever
 * publish it, and whoever ended the job has looked for losers before it was there.
 */
export async function discardRecord(ctx: AppContext, job: Job, set: PendingSet): Promise<void> {
  await abortUploads(ctx, set.files);
  await removeRecord(job, set.attempt, 'pendingset');
  await removeClosedFilesOf(ctx, job, set.attempt);
}

/** Removes the record of an attempt whose uploads are dealt with, if it is still of that kind. */
export async function removeRecord(
  job: Job,
  attempt: TaskAttempt,
  kind: AttemptRecord['kind'],
): Promise<void> {
  const { store } = job.root;
  const stored = await job.facts.readRecord(attempt.task, attempt.number);
  if (stored?.value.kind !== kind || stored.value.attempt.id !== attempt.id) return;
  const key = job.facts.layout.record(attempt.task, attempt.number);
  try {
    const condition = store.capabilities.conditionalDelete ? { ifMatch: stored.etag } : {};
    await store.delete({ bucket: job.facts.bucket, key }, condition);
  } catch (error) {
    if (!isStoreError(error, 'precondition-failed', 'not-found')) throw error;
  }
}
