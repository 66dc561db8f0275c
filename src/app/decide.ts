import { CommitterError, isCommitterError } from '../core/errors.js';
import type { TaskAttempt } from '../core/ids.js';
import { pendingSetDigest, type PendingFile, type PendingSet } from '../core/records/attempt-record.js';
import type { Decision } from '../core/records/decision.js';
import type { Plan, Winner } from '../core/records/plan.js';
import { chooseWinners, refuseDuplicateKeys } from '../core/winners.js';
import { isoNow, type AppContext } from './context.js';
import { existingKeys } from './existing-keys.js';
import type { Job } from './job-directory.js';
import { loadRecords, type LoadedRecord } from './load-records.js';

/** What the deciding daemon has in memory, so that it need not read its own plan and records again. */
export interface Decided {
  readonly decision: Decision;
  /** Only where the decision is the one that this call made. */
  readonly own?: {
    readonly plan: Plan;
    readonly sets: readonly PendingSet[];
    readonly records: readonly LoadedRecord[];
  };
}

/** Chooses what to publish and makes it the job's decision, or finds another decision there. */
export async function decide(
  ctx: AppContext,
  job: Job,
  exact: readonly TaskAttempt[] | undefined,
): Promise<Decided> {
  const { facts, jobAttempt } = job;
  const records = await loadRecords(ctx, facts);
  const sets = chooseWinners(records.map((loaded) => ({ ...loaded, jobAttempt })), exact).map(({ set }) => set);
  try {
    refuseDuplicateKeys(filesOf(sets));
  } catch (error) {
    if (!isCommitterError(error, 'DUPLICATE_KEY')) throw error;
    return refuse(ctx, job, error);
  }
  const plan: Plan = {
    token: job.token,
    jobAttempt,
    winners: sets.map((set) => winnerOf(set, jobAttempt)),
    deletions: [],
    overwrites: await findOverwrites(job, sets),
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
  const isOwn = decision.decision === 'commit' && decision.plan === hash;
  return isOwn ? { decision, own: { plan, sets, records } } : { decision };
}

/** A refusal that no repetition cures ends the job: the decision is abort, unless there is one already. */
async function refuse(ctx: AppContext, job: Job, error: CommitterError): Promise<Decided> {
  const decidedAt = isoNow(ctx.clock);
  const created = await job.facts.createDecision({ decision: 'abort', reason: error.message, decidedAt });
  if (created.status === 'created') throw error;
  return { decision: created.value };
}

async function findOverwrites(job: Job, sets: readonly PendingSet[]): Promise<string[]> {
  const keysByBucket = new Map<string, string[]>();
  for (const { bucket, key } of filesOf(sets)) {
    const keys = keysByBucket.get(bucket);
    if (keys === undefined) keysByBucket.set(bucket, [key]);
    else keys.push(key);
  }
  const overwrites: string[] = [];
  for (const [bucket, keys] of keysByBucket) {
    for (const key of await existingKeys(job.root.store, bucket, keys)) overwrites.push(`${bucket}/${key}`);
  }
  return overwrites.sort();
}

export function* filesOf(sets: readonly PendingSet[]): Generator<PendingFile> {
  for (const set of sets) yield* set.files;
}

function winnerOf(set: PendingSet, jobAttempt: number): Winner {
  return {
    jobAttempt,
    attempt: set.attempt,
    files: set.files.length,
    bytes: set.files.reduce((sum, file) => sum + file.lengthBytes, 0),
    digest: pendingSetDigest(set),
  };
}
