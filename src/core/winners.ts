import { CommitterError } from './errors.js';
import type { TaskAttempt, TaskName } from './ids.js';
import type { AttemptRecord, PendingSet } from './records/attempt-record.js';

/**
 * Of each task the attempt to publish: the highest attempt number that no tombstone took out (HADOOP-17258), or exactly
 * the one that the caller knows to have succeeded.
 */
export class WinnerChoice {
  readonly #exact: ReadonlyMap<TaskName, TaskAttempt> | undefined;
  readonly #seen = new Set<TaskName>();

  /** @throws CommitterError INVALID_FIELD where two attempts of one task are named. */
  constructor(exact: readonly TaskAttempt[] | undefined) {
    if (exact === undefined) return;
    refuseTwoOfOneTask(exact, 'exact_winners names');
    this.#exact = new Map(exact.map((attempt) => [attempt.task, attempt]));
  }

  /** Of the records of one task those that may win, in the order in which they are to be asked about. */
  candidates<T extends { readonly task: TaskName; readonly attemptNumber: number }>(
    records: readonly T[],
  ): readonly T[] {
    const exact = this.#exact;
    if (exact !== undefined)
      return records.filter(({ task, attemptNumber }) => exact.get(task)?.number === attemptNumber);
    return [...records].sort((a, b) => b.attemptNumber - a.attemptNumber);
  }

  /**
   * Whether this candidate is its task's winner.
   *
   * @throws CommitterError WINNER_NOT_COMMITTED where a named attempt has no pendingset of its id.
   */
  isWinner(record: AttemptRecord): record is PendingSet {
    const named = this.#exact?.get(record.attempt.task);
    if (named === undefined) return record.kind === 'pendingset';
    if (record.kind === 'tombstone') throw notCommitted(named, 'it was aborted');
    if (record.attempt.id !== named.id) throw notCommitted(named, `its record is of ${record.attempt.id}`);
    this.#seen.add(named.task);
    return true;
  }

  /**
   * Call it once every task's candidates were asked about.
   *
   * @throws CommitterError WINNER_NOT_COMMITTED where a named attempt has no record.
   */
  refuseMissing(): void {
    for (const attempt of this.#exact?.values() ?? [])
      if (!this.#seen.has(attempt.task)) throw notCommitted(attempt, 'it has no record');
  }
}

export function notCommitted(attempt: TaskAttempt, why: string): CommitterError {
  return new CommitterError(
    'WINNER_NOT_COMMITTED',
    `task attempt ${attempt.id} (${attempt.task}, number ${attempt.number}) is to be published, but ${why}`,
  );
}

/** @throws CommitterError INVALID_FIELD */
export function refuseTwoOfOneTask(attempts: Iterable<TaskAttempt>, who: string): void {
  const tasks = new Set<TaskName>();
  for (const { task } of attempts) {
    if (tasks.has(task)) {
      throw new CommitterError(
        'INVALID_FIELD',
        `${who} two attempts of task ${task}; one of each is published`,
      );
    }
    tasks.add(task);
  }
}
