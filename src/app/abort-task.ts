import { abortableBeforeDecision, uploadName } from '../core/abort-rule.js';
import type { TaskAttempt } from '../core/ids.js';
import { hasEnded, type JobState } from '../core/job-state.js';
import {
  uploadsIn,
  type AttemptRecord,
  type Tombstone,
  type UploadIdentity,
} from '../core/records/attempt-record.js';
import { parseAttempt, type AttemptRef } from './attempt-ref.js';
import { isListed } from './commit-task.js';
import { readClosedFilesOf, removeClosedFile } from './closed-files.js';
import type { AppContext } from './context.js';
import { decidingAttempt, readState } from './deciding.js';
import { removeRecord } from './discard-record.js';
import type { JobFacts } from './facts.js';
import { parseFile, type FileRef } from './file-ref.js';
import { factsOf, type Job, type JobRef } from './job-directory.js';
import { abortUploads } from './abort-uploads.js';
import { lookAgain } from './sweep.js';

export interface AbortTaskInput {
  readonly job: JobRef;
  readonly attempt: AttemptRef;
  /** What the calling process knows of; none from a process that did not write the attempt. */
  readonly files: readonly FileRef[];
}

export async function abortTask(ctx: AppContext, input: AbortTaskInput, principal: string): Promise<void> {
  const attempt = parseAttempt(input.attempt);
  const job = await ctx.jobs.find(input.job, principal);
  const named = input.files.map((file) => parseFile(ctx.roots, job, attempt, file));
  const record = await bury(job, attempt, named);
  if (record === undefined) return;
  // After the tombstone: whoever closes a file from now on finds that.
  const isStored = job.record.options.taskRecords === 'store';
  const closed = isStored ? await readClosedFilesOf(ctx, job, attempt) : [];

  // After the tombstone too: a commit that claims the attempt from now on finds that.
  const isClaimed = job.record.options.taskRecords === 'driver' && (await job.facts.hasClaims());

  const { deciding, state } = await decidingState(job);
  const known = [...named, ...closed.map(({ file }) => file)];
  const mayBeListed = record.replaced !== undefined || isClaimed;
  const abortable = mayBeListed
    ? await abortableAfterCommit(deciding, state, record, known)
    : await abortableNow(job, record, known);
  await abortUploads(ctx, abortable);
  ctx.ledger.remove(job, abortable);
  const aborted = new Set(abortable.map(uploadName));
  for (const each of closed) if (aborted.has(uploadName(each.file))) await removeClosedFile(job, each);
  // Whoever ended the job has looked for records before this one was there.
  if (!hasEnded(state) || job.record.adopts !== undefined) return;
  await removeRecord(job, attempt, 'tombstone');
  if (abortable.length > 0) lookAgain(ctx, abortable);
}

async function decidingState(job: Job): Promise<{ deciding: JobFacts; state: JobState }> {
  const { root, token, jobAttempt } = job;
  const deciding = factsOf(root, token, await decidingAttempt(root, token, jobAttempt));
  return { deciding, state: await readState(deciding) };
}

/** Makes sure that the attempt's record is a tombstone; `undefined` where it is another attempt's of that number. */
async function bury(
  job: Job,
  attempt: TaskAttempt,
  named: readonly UploadIdentity[],
): Promise<Tombstone | undefined> {
  const fresh: Tombstone = { kind: 'tombstone', token: job.token, attempt, named };
  const created = await job.facts.createRecord(fresh);
  if (created.status === 'created') return fresh;
  let stored: { value: AttemptRecord; etag: string } | undefined = created;
  // Each turn that does not end was overtaken by another writer of the record, which happens once or twice.
  while (stored !== undefined) {
    const { value, etag } = stored;
    if (value.attempt.id !== attempt.id) return undefined;
    if (value.kind === 'tombstone') return value;
    const burial: Tombstone = { kind: 'tombstone', token: job.token, attempt, replaced: value, named: [] };
    if (await job.facts.replaceRecord(burial, etag)) return burial;
    stored = await job.facts.readRecord(attempt.task, attempt.number);
  }
  return undefined;
}

/** The tombstone came first: no commit can list the attempt, unless this job attempt recovered it from a lower one. */
async function abortableNow(
  job: Job,
  record: Tombstone,
  named: readonly UploadIdentity[],
): Promise<readonly UploadIdentity[]> {
  let recovered = false;
  for (let lower = job.jobAttempt - 1; lower >= 0 && !recovered; lower--) {
    const facts = factsOf(job.root, job.token, lower);
    const stored = await facts.readRecord(record.attempt.task, record.attempt.number);
    recovered =
      stored !== undefined && (stored.value.kind === 'pendingset' || stored.value.replaced !== undefined);
  }
  // Files that a repeated call names beyond those in the tombstone are this attempt's too: their handles verified.
  return abortableBeforeDecision({ ...record, named: [...record.named, ...named] }, recovered);
}

/** A commit that read the pendingset, or claimed it, may list it: only a decision that does not sets its uploads free. */
async function abortableAfterCommit(
  deciding: JobFacts,
  state: JobState,
  record: Tombstone,
  named: readonly UploadIdentity[],
): Promise<readonly UploadIdentity[]> {
  // A tombstone over a pendingset keeps what that had; files that are named besides have verified handles.
  const uploads = [...uploadsIn(record), ...(record.replaced === undefined ? named : [])];
  switch (state.state) {
    case 'undecided':
    case 'superseded':
      return [];
    case 'aborted':
    case 'rolling-back':
    case 'rolled-back':
      return uploads;
    case 'publishing':
    case 'published':
    case 'done': {
      const plan = await deciding.readPlan(state.decision.plan);
      return plan === undefined || isListed(plan, record.attempt) ? [] : uploads;
    }
  }
}
