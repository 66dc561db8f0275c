import { CommitterError, isCommitterError } from '../core/errors.js';
import type { TaskAttempt } from '../core/ids.js';
import { pendingSetDigest, uriOf, type PendingSet } from '../core/records/attempt-record.js';
import type { Decision } from '../core/records/decision.js';
import type { Deletion, Plan, Winner } from '../core/records/plan.js';
import type { StoreUri } from '../core/uri.js';
import { chooseWinners, refuseDuplicateKeys } from '../core/winners.js';
import type { CarriedPendingset } from './carried-pendingsets.js';
import { claim } from './claims.js';
import { isoNow, type AppContext } from './context.js';
import { judgeConflicts } from './conflicts.js';
import { existingKeys } from './existing-keys.js';
import { byteCount, fileCount, filesOf, outputsOf } from './files-of.js';
import type { Job } from './job-directory.js';
import { loadRecords, type LoadedRecord } from './load-records.js';

/** What the deciding daemon has in memory, so that it need not read its own plan and records again. */
export interface Decided {
  readonly decision: Decision;
  /** This call has made it just now: nobody can have published or rolled back what it says before. */
  readonly isNew: boolean;
  /** Only where the decision is the one that this call made. */
  readonly own?: {
    readonly plan: Plan;
    readonly sets: readonly PendingSet[];
    readonly records: readonly LoadedRecord[];
  };
}

/** What a caller knows of what to publish. */
export interface Winners {
  /** Exactly these attempts. */
  readonly exact?: readonly TaskAttempt[] | undefined;
  /** With `TASK_RECORDS_DRIVER`: exactly these, which no record in the store holds yet. */
  readonly carried?: readonly CarriedPendingset[];
}

/** Chooses what to publish and makes it the job's decision, or finds another decision there. */
export async function decide(ctx: AppContext, job: Job, from: Winners): Promise<Decided> {
  const { facts, jobAttempt } = job;
  const { sets, records, claims } = await choose(ctx, job, from);
  let deletions: readonly Deletion[];
  try {
    refuseDuplicateKeys(outputsOf(sets));
    deletions = await judgeConflicts(ctx, job, sets);
  } catch (error) {
    if (!isCommitterError(error, 'DUPLICATE_KEY', 'DESTINATION_EXISTS')) throw error;
    return refuse(ctx, job, error);
  }
  const plan: Plan = {
    token: job.token,
    jobAttempt,
    winners: sets.map((set, index) => winnerOf(set, jobAttempt, claims[index])),
    deletions,
    overwrites: await findOverwrites(ctx, sets),
  };
  const hash = await facts.writePlan(plan);
  const created = await facts.createDecision({
    decision: 'commit',
    plan: hash,
    tasks: sets.length,
    files: plan.winners.reduce((sum, winner) => sum + winner.files, 0),
    bytes: plan.winners.reduce((sum, winner) => sum + winner.bytes, 0),
    overwrites: plan.overwrites.length,
    deletions: plan.deletions.length,
    decidedAt: isoNow(ctx.clock),
  });
  const { value: decision } = created;
  const isNew = created.status === 'created';
  const isOwn = decision.decision === 'commit' && decision.plan === hash;
  if (!isOwn) return { decision, isNew };
  // Not before: whoever decided otherwise may have looked for claims before these were there.
  if (from.carried !== undefined) ctx.ledger.remove(job, [...filesOf(sets)]);
  return { decision, isNew, own: { plan, sets, records } };
}

async function choose(
  ctx: AppContext,
  job: Job,
  { exact, carried }: Winners,
): Promise<{
  readonly sets: readonly PendingSet[];
  readonly records: readonly LoadedRecord[];
  /** Of each set, where it is not in a record of its own. */
  readonly claims: readonly string[];
}> {
  const { facts, jobAttempt } = job;
  if (carried !== undefined) {
    return { sets: carried.map(({ set }) => set), records: [], claims: await claim(ctx, job, carried) };
  }
  if (job.record.options.taskRecords === 'driver') {
    throw new CommitterError(
      'WINNER_NOT_COMMITTED',
      `job ${job.token} was set up with commitbridge.task-records=driver, and its driver has not handed the task records over: only the driver can commit it; with the driver gone, end it with \`commitbridge jobs abort ${job.token}\``,
    );
  }
  const records = await loadRecords(ctx, facts);
  const found = chooseWinners(
    records.map((loaded) => ({ ...loaded, jobAttempt })),
    exact,
  );
  return { sets: found.map(({ set }) => set), records, claims: [] };
}

/** A refusal that no repetition cures ends the job: the decision is abort, unless there is one already. */
async function refuse(ctx: AppContext, job: Job, error: CommitterError): Promise<Decided> {
  const decidedAt = isoNow(ctx.clock);
  const created = await job.facts.createDecision({ decision: 'abort', reason: error.message, decidedAt });
  if (created.status === 'created') throw error;
  return { decision: created.value, isNew: false };
}

async function findOverwrites(ctx: AppContext, sets: readonly PendingSet[]): Promise<string[]> {
  const keysByBucket = new Map<string, { readonly place: StoreUri; readonly keys: string[] }>();
  for (const file of outputsOf(sets)) {
    const { scheme, bucket, key } = file;
    // Two stores may have buckets of one name.
    const name = `${ctx.roots.storeNameOf(file)} ${bucket}`;
    const group = keysByBucket.get(name);
    if (group === undefined) keysByBucket.set(name, { place: { scheme, bucket, key }, keys: [key] });
    else group.keys.push(key);
  }
  const overwrites: string[] = [];
  for (const { place, keys } of keysByBucket.values()) {
    const { scheme, bucket } = place;
    const existing = await existingKeys(ctx.roots.storeOf(place), bucket, keys);
    for (const key of existing) overwrites.push(uriOf({ scheme, bucket, key }));
  }
  return overwrites.sort();
}

function winnerOf(set: PendingSet, jobAttempt: number, claim: string | undefined): Winner {
  return {
    jobAttempt,
    attempt: set.attempt,
    files: fileCount(set),
    bytes: byteCount(set),
    digest: pendingSetDigest(set),
    claim,
  };
}
