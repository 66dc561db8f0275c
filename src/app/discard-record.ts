import type { PendingSet } from '../core/records/attempt-record.js';
import { isStoreError } from '../ports/object-store.js';
import { abortUploads } from './abort-uploads.js';
import type { AppContext } from './context.js';
import type { Job } from './job-directory.js';

/**
 * Clears a pendingset that came after its job's decision and that the decision does not list: nobody will ever
 * publish it, and whoever ended the job has looked for losers before it was there.
 */
export async function discardRecord(ctx: AppContext, job: Job, set: PendingSet): Promise<void> {
  const { store } = job.root;
  await abortUploads(ctx, set.files);
  const stored = await job.facts.readRecord(set.attempt.task, set.attempt.number);
  if (stored?.value.kind !== 'pendingset') return;
  const key = job.facts.layout.record(set.attempt.task, set.attempt.number);
  try {
    const condition = store.capabilities.conditionalDelete ? { ifMatch: stored.etag } : {};
    await store.delete({ bucket: job.facts.bucket, key }, condition);
  } catch (error) {
    if (!isStoreError(error, 'precondition-failed', 'not-found')) throw error;
  }
}
