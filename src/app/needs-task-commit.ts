import { parseAttempt, type AttemptRef } from './attempt-ref.js';
import type { AppContext } from './context.js';
import type { JobRef } from './job-directory.js';

/**
 * Always true, for a job that was set up. An attempt without files needs a record too: it has to outrank an earlier
 * attempt that had some and that the framework gave up.
 */
export async function needsTaskCommit(
  ctx: AppContext,
  input: { readonly job: JobRef; readonly attempt: AttemptRef },
  principal: string,
): Promise<boolean> {
  parseAttempt(input.attempt);
  await ctx.jobs.find(input.job, principal);
  return true;
}
