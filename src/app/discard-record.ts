import type { TaskAttempt } from '../core/ids.js';
import type { AttemptRecord, PendingSet } from '../core/records/attempt-record.js';
import { isStoreError } from '../ports/object-store.js';
import { abortUploads } from './abort-uploads.js';
import { removeClosedFilesOf } from './closed-files.js';
import type { AppContext } from './context.js';
import { deleteAfterLook } from './fence.js';
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
  const { bucket, layout } = job.facts;
  const object = { bucket, key: layout.record(attempt.task, attempt.number) };
  const find = async (): Promise<string | undefined> => {
    const stored = await job.facts.readRecord(attempt.task, attempt.number);
    const isIt = stored?.value.kind === kind && stored.value.attempt.id === attempt.id;
    return isIt ? stored.etag : undefined;
  };
  if (!store.capabilities.conditionalDelete) {
    await deleteAfterLook(store, object, async () => (await find()) !== undefined);
    return;
  }
  const etag = await find();
  if (etag === undefined) return;
  try {
    await store.delete(object, { ifMatch: etag });
  } catch (error) {
    if (!isStoreError(error, 'precondition-failed', 'not-found')) throw error;
  }
}
