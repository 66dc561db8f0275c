import { parseAttempt, type AttemptRef } from './attempt-ref.js';
import type { AppContext } from './context.js';
import { inlineLimits, type InlineLimits } from './inline-limits.js';
import type { JobRef } from './job-directory.js';

/** Costs the store nothing once the daemon knows the job: job.json is kept, and no state is made for the attempt. */
export async function setupTask(
  ctx: AppContext,
  input: { readonly job: JobRef; readonly attempt: AttemptRef },
  principal: string,
): Promise<{ token: string } & InlineLimits> {
  parseAttempt(input.attempt);
  const job = await ctx.jobs.find(input.job, principal);
  return { token: job.token, ...inlineLimits(ctx, job.root.store.capabilities) };
}
