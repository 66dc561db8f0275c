import { hasEnded, type JobState } from '../core/job-state.js';
import type { JobToken } from '../core/ids.js';
import { decidingAttempt, readState } from './deciding.js';
import type { JobFacts } from './facts.js';
import { factsOf } from './job-directory.js';
import type { Root } from './roots.js';

/** What counts for some job attempts: which one decides, and what it says. */
export interface DecidingState {
  readonly deciding: number;
  readonly state: JobState;
  /**
   * Ended, or half collected: no job is decided for commit without job.json and none loses it before it has ended, so
   * a commit decision without job.json is what a `gc` left that died on the way, whatever the outcome says. A late
   * AbortJob or a publisher that woke up may have written one anew.
   */
  readonly isOver: boolean;
}

/** By job attempt. Attempts with the same deciding one share an entry. */
export async function readStates(
  root: Root,
  token: JobToken,
  jobAttempts: readonly number[],
): Promise<ReadonlyMap<number, DecidingState>> {
  const byDeciding = new Map<number, DecidingState>();
  const states = new Map<number, DecidingState>();
  for (const jobAttempt of jobAttempts) {
    const deciding = await decidingAttempt(root, token, jobAttempt);
    const known = byDeciding.get(deciding) ?? (await readDecidingState(root, token, deciding));
    byDeciding.set(deciding, known);
    states.set(jobAttempt, known);
  }
  return states;
}

export async function readDecidingState(
  root: Root,
  token: JobToken,
  deciding: number,
): Promise<DecidingState> {
  const facts = factsOf(root, token, deciding);
  const state = await readState(facts);
  return { deciding, state, isOver: hasEnded(state) || (await isHalfCollected(facts, state)) };
}

async function isHalfCollected(facts: JobFacts, { state }: JobState): Promise<boolean> {
  const isOpenCommit = state === 'publishing' || state === 'published' || state === 'rolling-back';
  return isOpenCommit && (await facts.readJob()) === undefined;
}
