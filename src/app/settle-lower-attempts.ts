import { jobState } from '../core/job-state.js';
import type { JobToken } from '../core/ids.js';
import { isoNow, type AppContext } from './context.js';
import { factsOf } from './job-directory.js';
import { finishRollback } from './rollback.js';
import type { Root } from './roots.js';

/**
 * Before job attempt n is set up, no lower one may decide any more: an undecided one is superseded, with job.json
 * or without, so that its late calls are refused; an unfinished rollback is finished.
 *
 * @returns the lower job attempt whose commit decision n has to take over.
 */
export async function settleLowerAttempts(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  jobAttempt: number,
): Promise<number | undefined> {
  let adopts: number | undefined;
  for (let lower = jobAttempt - 1; lower >= 0; lower--) {
    const facts = factsOf(root, token, lower);
    const superseded = { decision: 'superseded', by: jobAttempt, decidedAt: isoNow(ctx.clock) } as const;
    const { value: decision } = await facts.createDecision(superseded);
    const outcome = decision.decision === 'commit' ? await facts.readOutcome() : undefined;
    const state = jobState(decision, outcome?.value);
    switch (state.state) {
      case 'publishing':
      case 'published':
      case 'done':
        adopts = lower;
        break;
      case 'rolling-back':
        await finishRollback(ctx, root, token, facts, state.decision);
        break;
      case 'undecided':
      case 'aborted':
      case 'superseded':
      case 'rolled-back':
        break;
    }
  }
  return adopts;
}
