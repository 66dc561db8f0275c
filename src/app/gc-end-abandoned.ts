import { isCommitterError } from '../core/errors.js';
import type { JobToken } from '../core/ids.js';
import type { JobState } from '../core/job-state.js';
import { JobPublication } from './commit-job.js';
import { isoNow, type AppContext } from './context.js';
import { readDecidingState, type DecidingState } from './gc-states.js';
import { decidingAttempt } from './deciding.js';
import { factsOf } from './job-directory.js';
import { beginRollback, finishRollback } from './rollback.js';
import type { Root } from './roots.js';

/** How an abandoned job is ended. */
export type Ending = 'abort' | 'finish' | 'roll-back';

/** What {@link endAbandoned} begins with; a commit that can't be finished is rolled back instead. */
export function endingOf(state: JobState): Ending | undefined {
  switch (state.state) {
    case 'undecided':
      return 'abort';
    case 'publishing':
    case 'published':
      return 'finish';
    case 'rolling-back':
      return 'roll-back';
    case 'superseded':
    case 'aborted':
    case 'done':
    case 'rolled-back':
      return undefined;
  }
}

/**
 * Brings a deciding job attempt to its end. The decision and the outcome are one-shot, so that a job which turns out
 * to be alive fails cleanly, or finds itself published.
 *
 * @returns what was done; `undefined` where somebody else was faster.
 * @throws CommitterError FOREIGN_OBJECT where a commit can be neither finished nor undone.
 */
export async function endAbandoned(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  from: DecidingState,
  reason: string,
): Promise<Ending | undefined> {
  let ending: Ending | undefined;
  let current = from;
  let wasDecided = false;
  while (!current.isOver) {
    const facts = factsOf(root, token, current.deciding);
    const { state } = current;
    switch (state.state) {
      case 'undecided': {
        // A decision is taken away only by a gc that collects the job: not to be made again.
        if (wasDecided) return ending;
        const abort = { decision: 'abort', reason, decidedAt: isoNow(ctx.clock) } as const;
        if ((await facts.createDecision(abort)).status === 'created') ending = 'abort';
        break;
      }
      case 'rolling-back':
        await finishRollback(ctx, root, token, facts, state.decision);
        ending = 'roll-back';
        break;
      case 'publishing':
      case 'published':
        ending = await rollForwardOrBack(ctx, root, token, current.deciding, state);
        break;
      case 'superseded':
      case 'aborted':
      case 'done':
      case 'rolled-back':
        break;
    }
    wasDecided = true;
    const deciding = await decidingAttempt(root, token, current.deciding);
    current = await readDecidingState(root, token, deciding);
  }
  return ending;
}

async function rollForwardOrBack(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  jobAttempt: number,
  state: Extract<JobState, { state: 'publishing' | 'published' }>,
): Promise<Ending | undefined> {
  const job = await ctx.jobs.read(root, token, jobAttempt);
  // Another gc has ended and collected it.
  if (job === undefined) return undefined;
  const { facts } = job;
  try {
    await new JobPublication(ctx, job, facts).drive(state);
    return 'finish';
  } catch (error) {
    // The publisher met a foreign object at a free key, or somebody's rollback: it has been undone.
    if (isCommitterError(error, 'DESTINATION_EXISTS', 'JOB_ABORTED')) return 'roll-back';
    // What it went by is gone because somebody else has ended the job, or collected it.
    if (isCommitterError(error, 'RECORD_UNREADABLE') && (await hasMovedOn(root, token, jobAttempt, state))) {
      return undefined;
    }
    if (!isCommitterError(error, 'FOREIGN_OBJECT') || state.decision.overwrites > 0) throw error;
    const begun = await beginRollback(ctx, facts, `it could not be finished: ${error.message}`);
    return begun ? 'roll-back' : undefined;
  }
}

async function hasMovedOn(
  root: Root,
  token: JobToken,
  jobAttempt: number,
  before: JobState,
): Promise<boolean> {
  const { state, isOver } = await readDecidingState(root, token, jobAttempt);
  return isOver || state.state !== before.state;
}
