import { CommitterError } from './errors.js';
import type { TaskAttempt, TaskName } from './ids.js';
import { ItemIndex } from './item-index.js';
import { uriOf, type AttemptRecord, type OutputFile, type PendingSet } from './records/attempt-record.js';
import { parentKey, type StoreUri } from './uri.js';

/** A record as the commit found it. */
export interface FoundRecord {
  readonly jobAttempt: number;
  readonly task: TaskName;
  readonly attemptNumber: number;
  readonly record: AttemptRecord;
}

export interface FoundPendingSet {
  readonly jobAttempt: number;
  readonly set: PendingSet;
}

/**
 * The attempts to publish: of each task the highest attempt number that no tombstone took out (HADOOP-17258), or
 * exactly those that the caller knows to have succeeded.
 *
 * @throws CommitterError WINNER_NOT_COMMITTED where a named attempt has no pendingset of its id; INVALID_FIELD where
 *   two of one task are named.
 */
export function chooseWinners(
  records: readonly FoundRecord[],
  exact: readonly TaskAttempt[] | undefined,
): FoundPendingSet[] {
  return exact === undefined ? highestOfEachTask(records) : exactly(records, exact);
}

function highestOfEachTask(records: readonly FoundRecord[]): FoundPendingSet[] {
  const winners = new Map<TaskName, FoundPendingSet>();
  for (const { jobAttempt, task, attemptNumber, record } of records) {
    if (record.kind === 'tombstone') continue;
    const best = winners.get(task);
    if (best === undefined || attemptNumber > best.set.attempt.number)
      winners.set(task, { jobAttempt, set: record });
  }
  return [...winners.values()].sort((a, b) => (a.set.attempt.task < b.set.attempt.task ? -1 : 1));
}

function exactly(records: readonly FoundRecord[], exact: readonly TaskAttempt[]): FoundPendingSet[] {
  const byName = new Map(records.map((found) => [`${found.task}/${found.attemptNumber}`, found]));
  refuseTwoOfOneTask(exact, 'exact_winners names');
  return exact.map((attempt) => {
    const found = byName.get(`${attempt.task}/${attempt.number}`);
    if (found === undefined || found.record.kind === 'tombstone' || found.record.attempt.id !== attempt.id) {
      const why =
        found === undefined
          ? 'it has no record'
          : found.record.kind === 'tombstone'
            ? 'it was aborted'
            : `its record is of ${found.record.attempt.id}`;
      throw notCommitted(attempt, why);
    }
    return { jobAttempt: found.jobAttempt, set: found.record };
  });
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

/** By keys, which two buckets may share. */
function placeIndex(): ItemIndex<StoreUri> {
  return new ItemIndex(
    ({ key }) => key,
    (a, b) => a.bucket === b.bucket && a.scheme === b.scheme,
  );
}

/**
 * @throws CommitterError DUPLICATE_KEY where two files have one final key: the last Complete would win in silence; and
 *   where the key of one is a directory of another's: an object store can hold both, a file system can't, and no reader
 *   of Hadoop finds what is below a file.
 */
export function refuseDuplicateKeys(files: Iterable<OutputFile>): void {
  const seen = placeIndex();
  const directories = placeIndex();
  const below: { readonly directory: StoreUri; readonly file: OutputFile }[] = [];
  for (const file of files) {
    if (seen.has(file)) {
      throw new CommitterError(
        'DUPLICATE_KEY',
        `two committed files have the final key ${uriOf(file)}: make the tasks' file names differ`,
      );
    }
    seen.add(file);
    const { scheme, bucket } = file;
    for (let key = parentKey(file.key); key !== ''; key = parentKey(key)) {
      const directory = { scheme, bucket, key };
      if (directories.has(directory)) break;
      directories.add(directory);
      below.push({ directory, file });
    }
  }
  for (const { directory, file } of below) {
    if (!seen.has(directory)) continue;
    throw new CommitterError(
      'DUPLICATE_KEY',
      `${uriOf(directory)} is a committed file, and so is ${uriOf(file)} below it: no reader would find the second one; make the tasks' file names differ`,
    );
  }
}
