import { hasEnded } from '../core/job-state.js';
import type { UploadIdentity } from '../core/records/attempt-record.js';
import { abortUploads } from './abort-uploads.js';
import type { AppContext } from './context.js';
import { decidingAttempt, readState } from './deciding.js';
import { factsOf, type Job } from './job-directory.js';
import { removeProcessed } from './sweep.js';

/**
 * Aborts what this daemon opened for a job that has ended: zombies' uploads that whoever ended the job could not
 * see. By then every winner is completed, and aborting a completed upload does nothing.
 */
export async function sweepEndedJob(
  ctx: AppContext,
  job: Job,
  open: readonly UploadIdentity[],
  segments: readonly string[],
): Promise<'running' | 'ended'> {
  // Reruns in a job attempt that adopted must not fail: CommitTask and CommitJob clear their uploads.
  if (job.record.adopts !== undefined) return 'running';
  const decision = await job.facts.readDecision();
  if (decision === undefined) return 'running';
  const { root, token } = job;
  const number =
    decision.decision === 'superseded' ? await decidingAttempt(root, token, decision.by) : job.jobAttempt;
  const state = await readState(factsOf(root, token, number));
  if (!hasEnded(state)) return 'running';
  await abortUploads(ctx, open);
  ctx.jobs.forget(job);
  // A segment that was written when the job had ended is nobody else's to remove.
  removeProcessed(ctx, root, { bucket: root.staging.bucket, keys: [...segments], aborted: open });
  return 'ended';
}
