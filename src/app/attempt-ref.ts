import { parseAttemptId, parseAttemptNumber, parseTask, type TaskAttempt } from '../core/ids.js';

/** A task attempt as a caller names it. */
export interface AttemptRef {
  readonly task: string;
  readonly attemptNumber: number;
  readonly attemptId: string;
}

/** @throws CommitterError INVALID_FIELD */
export function parseAttempt(ref: AttemptRef): TaskAttempt {
  return {
    task: parseTask(ref.task),
    number: parseAttemptNumber(ref.attemptNumber),
    id: parseAttemptId(ref.attemptId),
  };
}
