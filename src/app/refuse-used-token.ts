import { CommitterError } from '../core/errors.js';
import type { JobState } from '../core/job-state.js';

/** A token is used once: what its decision said stays said, also after job.json was collected. */
export function refuseUsedToken(token: string, state: JobState): void {
  switch (state.state) {
    case 'undecided':
      return;
    case 'superseded':
      throw new CommitterError('JOB_SUPERSEDED', `job ${token}: job attempt ${state.by} has taken over`);
    case 'aborted':
      throw new CommitterError('JOB_ABORTED', `job ${token} was aborted: ${state.reason}; use a new token`);
    case 'rolling-back':
    case 'rolled-back':
      throw new CommitterError(
        'JOB_ABORTED',
        `job ${token} was rolled back: ${state.outcome.reason}; use a new token`,
      );
    case 'publishing':
    case 'published':
    case 'done':
      throw new CommitterError('JOB_COMMITTED', `job ${token} was committed already; use a new token`);
  }
}
