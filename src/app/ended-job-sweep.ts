import { hasEnded, type JobState } from '../core/job-state.js';
import type { UploadIdentity } from '../core/records/attempt-record.js';
import { abortUploads } from './abort-uploads.js';
import type { AppContext } from './context.js';
import { decidingAttempt, readState } from './deciding.js';
import { factsOf, type Job } from './job-directory.js';
import type { LedgerUpload } from './ledger.js';
import { removeProcessed } from './sweep.js';

/**
 * Aborts what this daemon opened for a job that has ended: zombies' uploads that whoever ended the job could not
 * see. By then every winner is completed, and aborting a completed upload does nothing.
 */
export async function sweepEndedJob(
  ctx: AppContext,
  job: Job,
  open: readonly LedgerUpload[],
  segments: readonly string[],
): Promise<'undecided' | 'running' | 'ended'> {
  // Reruns in a job attempt that adopted must not fail: CommitTask and CommitJob clear their uploads.
  if (job.record.adopts !== undefined) return 'running';
  const decision = await job.facts.readDecision();
  if (decision === undefined) return 'undecided';
  const { root, token } = job;
  const number =
    decision.decision === 'superseded' ? await decidingAttempt(root, token, decision.by) : job.jobAttempt;
  const state = await readState(factsOf(root, token, number));
  if (!hasEnded(state)) return 'running';
  const aborted = await losersOf(job, number, state, open);
  await abortUploads(ctx, aborted);
  ctx.jobs.forget(job);
  // A segment that was written when the job had ended is nobody else's to remove.
  removeProcessed(ctx, root, { bucket: root.staging.bucket, keys: [...segments], aborted });
  return 'ended';
}

/** Spares a request for each upload of a winner that the driver carried: it is completed. */
async function losersOf(
  job: Job,
  deciding: number,
  state: JobState,
  open: readonly LedgerUpload[],
): Promise<UploadIdentity[]> {
  const isAsked = deciding === job.jobAttempt && open.some(({ handedOverIn }) => handedOverIn !== undefined);
  const plan = isAsked && state.state === 'done' ? await job.facts.readPlan(state.decision.plan) : undefined;
  // By content: the driver may have been handed other files of the same attempt.
  const winning = new Set(plan?.winners.map(({ digest }) => digest));
  return open
    .filter(({ handedOverIn }) => handedOverIn === undefined || !winning.has(handedOverIn))
    .map(({ upload }) => upload);
}
