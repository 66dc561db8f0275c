import { CommitterError } from '../core/errors.js';
import type { TaskAttempt } from '../core/ids.js';
import { pendingSetDigest, type PendingSet } from '../core/records/attempt-record.js';
import { unreadable } from '../core/records/codec.js';
import { WinnerChoice } from '../core/winners.js';
import type { CarriedPendingset } from './carried-pendingsets.js';
import { claim } from './claims.js';
import type { AppContext } from './context.js';
import type { ListedRecord } from './facts.js';
import { byteCount, fileCount, outputsOf } from './files-of.js';
import type { Job } from './job-directory.js';
import { loadRecord } from './load-records.js';
import { mapLimit } from './map-limit.js';
import { OutputKeys } from './output-keys.js';
import { RecordSet } from './record-set.js';
import { WinnerSets } from './winner-sets.js';

/** What a caller knows of what to publish. */
export interface Winners {
  /** Exactly these attempts. */
  readonly exact?: readonly TaskAttempt[] | undefined;
  /** With `TASK_RECORDS_DRIVER`: exactly these, which no record in the store holds yet. */
  readonly carried?: readonly CarriedPendingset[];
}

/** What a decision publishes, gathered attempt by attempt: of a large job no more than fits memory is held. */
export class Choice {
  readonly sets: WinnerSets;
  readonly keys: OutputKeys;
  /** Records of which all is known: every upload that they name is published. */
  readonly records = new RecordSet();

  constructor(
    ctx: AppContext,
    private readonly job: Job,
  ) {
    this.keys = new OutputKeys(ctx.roots);
    this.sets = new WinnerSets(ctx, job.root, job.token);
  }

  add(set: PendingSet, claim?: string): void {
    for (const file of outputsOf([set])) this.keys.add(file);
    const winner = {
      jobAttempt: this.job.jobAttempt,
      attempt: set.attempt,
      files: fileCount(set),
      bytes: byteCount(set),
      digest: pendingSetDigest(set),
      claim,
    };
    this.sets.take(winner, set);
  }
}

/** @throws CommitterError WINNER_NOT_COMMITTED, INVALID_FIELD */
export async function choose(ctx: AppContext, job: Job, { exact, carried }: Winners): Promise<Choice> {
  const choice = new Choice(ctx, job);
  if (carried !== undefined) {
    const claims = await claim(ctx, job, carried);
    for (const [index, { set }] of carried.entries()) choice.add(set, claims[index]);
    return choice;
  }
  if (job.record.options.taskRecords === 'driver') {
    throw new CommitterError(
      'WINNER_NOT_COMMITTED',
      `job ${job.token} was set up with commitbridge.task-records=driver, and its driver has not handed the task records over: only the driver can commit it; with the driver gone, end it with \`commitbridge jobs abort ${job.token}\``,
    );
  }
  const winners = new WinnerChoice(exact);
  await mapLimit(byTask(job.facts.listRecords()), ctx.options.recordConcurrency, async (listed) => {
    for (const candidate of winners.candidates(listed)) {
      const loaded = await loadRecord(ctx, job.facts, candidate);
      if (loaded === undefined || !winners.isWinner(loaded.record)) continue;
      choice.add(loaded.record);
      choice.records.add(loaded);
      return;
    }
  });
  winners.refuseMissing();
  return choice;
}

/** The records of one task follow one another in a listing. */
async function* byTask(listing: AsyncIterable<ListedRecord>): AsyncGenerator<readonly ListedRecord[]> {
  let group: ListedRecord[] = [];
  let before: string | undefined;
  for await (const listed of listing) {
    // A page may begin with what the one before ended with.
    if (listed.key === before) continue;
    // Of a task that came in two places, two attempts would be published.
    if (before !== undefined && listed.key < before)
      throw unreadable(listed.key, `the store lists it after ${before}, not in the order of keys`);
    before = listed.key;
    if (group[0] !== undefined && group[0].task !== listed.task) {
      yield group;
      group = [];
    }
    group.push(listed);
  }
  if (group.length > 0) yield group;
}
