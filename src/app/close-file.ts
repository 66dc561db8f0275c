import { uploadName } from '../core/abort-rule.js';
import { CommitterError } from '../core/errors.js';
import { hasEnded } from '../core/job-state.js';
import { uploadsIn, type AttemptRecord } from '../core/records/attempt-record.js';
import type { ClosedFileRecord } from '../core/records/closed-file.js';
import { quote } from '../core/uri.js';
import { parseAttempt, type AttemptRef } from './attempt-ref.js';
import { removeClosedFile } from './closed-files.js';
import type { AppContext } from './context.js';
import { decidingAttempt, readState } from './deciding.js';
import { factsOf, type Job, type JobRef } from './job-directory.js';
import { parseClosedFile, type UploadedFileRef } from './parse-closed-file.js';

export interface CloseFileInput {
  readonly job: JobRef;
  readonly attempt: AttemptRef;
  readonly file: UploadedFileRef;
}

/**
 * Records a closed file, for a commitTask in another process. The record comes first and the looks at the attempt and
 * the decision after it, as in CommitTask: whoever aborts the attempt or ends the job either finds the record or is
 * found here.
 */
export async function closeFile(ctx: AppContext, input: CloseFileInput, principal: string): Promise<void> {
  const attempt = parseAttempt(input.attempt);
  const job = await ctx.jobs.find(input.job, principal);
  if (job.record.options.taskRecords !== 'store') {
    throw new CommitterError(
      'UNSUPPORTED',
      `job ${job.token} was set up without TASK_RECORDS_STORE: hand ${quote(input.file.pending.uri)} to CommitTask`,
    );
  }
  const file = parseClosedFile(ctx, job, attempt, input.file);
  const record: ClosedFileRecord = { token: job.token, attempt, file };
  if ((await job.facts.createClosedFile(record)).status === 'exists') {
    throw new CommitterError(
      'ATTEMPT_EXISTS',
      `${quote(input.file.pending.uri)} was closed with other parts by attempt ${attempt.id} before`,
    );
  }
  await settle(ctx, job, record);
}

/**
 * The decision is read before the attempt's record: where the record does not hold the file then, no decision that was
 * made before can list it, and the upload may go. The other way round, a CommitTask and a CommitJob in between could
 * have made it a winner's.
 */
async function settle(ctx: AppContext, job: Job, record: ClosedFileRecord): Promise<void> {
  const { attempt, file } = record;
  const decision = await job.facts.readDecision();
  const stored = await job.facts.readRecord(attempt.task, attempt.number);
  const isHeld =
    stored?.value.attempt.id === attempt.id &&
    uploadsIn(stored.value).some((upload) => uploadName(upload) === uploadName(file));
  if (isHeld && stored.value.kind === 'pendingset') {
    // A replay; where the job is decided, nobody else looks at the new record.
    if (decision !== undefined) await removeClosedFile(job, record);
    return;
  }
  if (stored !== undefined) {
    if (!isHeld) await discard(ctx, job, record);
    refuse(record, stored.value);
  }
  switch (decision?.decision) {
    case 'superseded':
      await discardIfEnded(ctx, job, record, await decidingAttempt(job.root, job.token, decision.by));
      throw new CommitterError(
        'JOB_SUPERSEDED',
        `job ${job.token}: job attempt ${decision.by} has taken over`,
      );
    case 'abort':
      await discard(ctx, job, record);
      ctx.jobs.forget(job);
      throw new CommitterError('JOB_ABORTED', `job ${job.token} was aborted: ${decision.reason}`);
    case 'commit':
      await discard(ctx, job, record);
      ctx.jobs.forget(job);
      throw new CommitterError('JOB_COMMITTED', `job ${job.token} is committed; it takes no more files`);
    case undefined:
      // Reruns in a job attempt that adopted must not fail.
      if (job.record.adopts !== undefined) await discardIfEnded(ctx, job, record, job.record.adopts);
  }
  ctx.ledger.remove(job, [file]);
}

function refuse({ attempt, file }: ClosedFileRecord, existing: AttemptRecord): never {
  if (existing.kind === 'tombstone' && existing.attempt.id === attempt.id) {
    throw new CommitterError(
      'ATTEMPT_ABORTED',
      `task attempt ${attempt.id} was aborted; it takes no more files`,
    );
  }
  throw new CommitterError(
    'ATTEMPT_EXISTS',
    `number ${attempt.number} of task ${attempt.task} was committed by task attempt ${existing.attempt.id} without ${quote(file.key)}`,
  );
}

async function discardIfEnded(
  ctx: AppContext,
  job: Job,
  record: ClosedFileRecord,
  decidingAttempt: number,
): Promise<void> {
  if (!hasEnded(await readState(factsOf(job.root, job.token, decidingAttempt)))) return;
  await discard(ctx, job, record);
}

async function discard(ctx: AppContext, job: Job, record: ClosedFileRecord): Promise<void> {
  await ctx.roots.storeOf(record.file).abort(record.file);
  await removeClosedFile(job, record);
  ctx.ledger.remove(job, [record.file]);
}
