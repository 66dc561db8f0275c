import type { CommitDecision, Decision } from './records/decision.js';
import type { Outcome, Rollback } from './records/outcome.js';

/** What the two facts of a job attempt say together. */
export type JobState =
  | { readonly state: 'undecided' }
  | { readonly state: 'aborted'; readonly reason: string }
  | { readonly state: 'superseded'; readonly by: number }
  /** Decided for commit; anybody may go on publishing, or roll back. */
  | { readonly state: 'publishing'; readonly decision: CommitDecision }
  /** Every file is visible; no way back. Deletions, marker and cleanup may be left to do. */
  | { readonly state: 'published'; readonly decision: CommitDecision }
  | { readonly state: 'done'; readonly decision: CommitDecision }
  | { readonly state: 'rolling-back'; readonly decision: CommitDecision; readonly outcome: Rollback }
  | { readonly state: 'rolled-back'; readonly outcome: Rollback };

export function jobState(decision: Decision | undefined, outcome: Outcome | undefined): JobState {
  if (decision === undefined) return { state: 'undecided' };
  switch (decision.decision) {
    case 'abort':
      return { state: 'aborted', reason: decision.reason };
    case 'superseded':
      return { state: 'superseded', by: decision.by };
    case 'commit':
      return outcome === undefined ? { state: 'publishing', decision } : stateOfOutcome(decision, outcome);
  }
}

function stateOfOutcome(decision: CommitDecision, outcome: Outcome): JobState {
  switch (outcome.outcome) {
    case 'published':
    case 'done':
      return { state: outcome.outcome, decision };
    case 'rollback':
      return { state: 'rolling-back', decision, outcome };
    case 'rolled-back':
      return { state: 'rolled-back', outcome };
  }
}

/** Nothing of the job changes any more, but for cleanup. */
export function hasEnded(state: JobState): boolean {
  switch (state.state) {
    case 'aborted':
    case 'done':
    case 'rolled-back':
      return true;
    case 'undecided':
    case 'superseded':
    case 'publishing':
    case 'published':
    case 'rolling-back':
      return false;
  }
}
