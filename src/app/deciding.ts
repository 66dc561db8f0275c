import { jobState, type JobState } from '../core/job-state.js';
import type { JobToken } from '../core/ids.js';
import type { JobFacts } from './facts.js';
import { factsOf } from './job-directory.js';
import type { Root } from './roots.js';

/**
 * The job attempt whose decision and outcome count for job attempt n: the one that n adopted; else, where n was
 * superseded, its successor's; else n itself.
 */
export async function decidingAttempt(root: Root, token: JobToken, jobAttempt: number): Promise<number> {
  let current = jobAttempt;
  for (;;) {
    const facts = factsOf(root, token, current);
    const job = await facts.readJob();
    if (job?.adopts !== undefined) return job.adopts;
    const decision = await facts.readDecision();
    if (decision?.decision !== 'superseded') return current;
    current = decision.by;
  }
}

export async function readState(facts: JobFacts): Promise<JobState> {
  const decision = await facts.readDecision();
  const outcome = decision?.decision === 'commit' ? await facts.readOutcome() : undefined;
  return jobState(decision, outcome?.value);
}
