import { CommitterError } from '../core/errors.js';
import { uploadName } from '../core/abort-rule.js';
import type { TaskAttempt } from '../core/ids.js';
import { pendingSetIn, type PendingSet } from '../core/records/attempt-record.js';
import { parseAttempt, type AttemptRef } from './attempt-ref.js';
import { readClaims } from './claims.js';
import { removeClosedFileOf } from './closed-files.js';
import type { AppContext } from './context.js';
import { parseFile, type FileRef } from './file-ref.js';
import type { Job, JobRef } from './job-directory.js';

/**
 * Aborts one upload of a running attempt. The caller promises not to commit the file afterwards, as it promises to
 * name only closed files in CommitTask; a record that has it already is looked at, since a late repetition of this
 * call may come after CommitTask.
 */
export async function abortFile(
  ctx: AppContext,
  input: { readonly job: JobRef; readonly attempt: AttemptRef; readonly file: FileRef },
  principal: string,
): Promise<void> {
  const attempt = parseAttempt(input.attempt);
  const job = await ctx.jobs.find(input.job, principal);
  const upload = parseFile(ctx.roots, job, attempt, input.file);
  // First: a CommitTask that begins from now on does not take the file in.
  if (job.record.options.taskRecords === 'store') await removeClosedFileOf(job, attempt, upload);
  const committed = await committedBy(ctx, job, attempt);
  if (committed.some(({ files }) => files.some((file) => uploadName(file) === uploadName(upload)))) {
    throw new CommitterError(
      'JOB_COMMITTED',
      `attempt ${attempt.id} has committed ${input.file.uri}: abort the attempt, not the file`,
    );
  }
  // It stays in the ledger: a part that lands after this is aborted at the end of the job.
  await ctx.roots.storeOf(upload).abort(upload);
}

/** What is known of what the attempt has committed: with `TASK_RECORDS_DRIVER` nothing before the driver's call. */
async function committedBy(ctx: AppContext, job: Job, attempt: TaskAttempt): Promise<readonly PendingSet[]> {
  if (job.record.options.taskRecords === 'driver') {
    const keys: string[] = [];
    for await (const { key } of job.facts.listClaims()) keys.push(key);
    const { sets } = await readClaims(ctx, job.facts, keys);
    return sets.filter((set) => set.attempt.id === attempt.id);
  }
  const stored = await job.facts.readRecord(attempt.task, attempt.number);
  const set = stored === undefined ? undefined : pendingSetIn(stored.value);
  return set === undefined ? [] : [set];
}
