import { isCommitterError, type CommitterError } from '../core/errors.js';
import { uriOf } from '../core/records/attempt-record.js';
import type { Decision } from '../core/records/decision.js';
import type { Deletion, Plan } from '../core/records/plan.js';
import { choose, type Winners } from './choose.js';
import { isoNow, type AppContext } from './context.js';
import { judgeConflicts } from './conflicts.js';
import { existingKeys } from './existing-keys.js';
import { filesOf } from './files-of.js';
import type { Job } from './job-directory.js';
import type { OutputKeys } from './output-keys.js';
import type { RecordSet } from './record-set.js';
import type { WinnerSets } from './winner-sets.js';

/** What the deciding daemon has in memory, so that it need not read its own plan and records again. */
export interface Decided {
  readonly decision: Decision;
  /** This call has made it just now: nobody can have published or rolled back what it says before. */
  readonly isNew: boolean;
  /** Only where the decision is the one that this call made. */
  readonly own?: {
    readonly plan: Plan;
    readonly sets: WinnerSets;
    readonly records: RecordSet;
  };
}

/** Chooses what to publish and makes it the job's decision, or finds another decision there. */
export async function decide(ctx: AppContext, job: Job, from: Winners): Promise<Decided> {
  const { facts, jobAttempt } = job;
  const { sets, keys, records } = await choose(ctx, job, from);
  let deletions: readonly Deletion[];
  try {
    await keys.refuseClashes();
    deletions = await judgeConflicts(ctx, job, keys);
  } catch (error) {
    if (!isCommitterError(error, 'DUPLICATE_KEY', 'DESTINATION_EXISTS')) throw error;
    return refuse(ctx, job, error);
  }
  const plan: Plan = {
    token: job.token,
    jobAttempt,
    winners: sets.winners,
    deletions,
    overwrites: await findOverwrites(keys),
  };
  const hash = await facts.writePlan(plan);
  const created = await facts.createDecision({
    decision: 'commit',
    plan: hash,
    tasks: plan.winners.length,
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
  if (from.carried !== undefined) ctx.ledger.remove(job, [...filesOf(from.carried.map(({ set }) => set))]);
  return { decision, isNew, own: { plan, sets, records } };
}

/** A refusal that no repetition cures ends the job: the decision is abort, unless there is one already. */
async function refuse(ctx: AppContext, job: Job, error: CommitterError): Promise<Decided> {
  const decidedAt = isoNow(ctx.clock);
  const created = await job.facts.createDecision({ decision: 'abort', reason: error.message, decidedAt });
  if (created.status === 'created') throw error;
  return { decision: created.value, isNew: false };
}

async function findOverwrites(outputs: OutputKeys): Promise<string[]> {
  const overwrites: string[] = [];
  for (const { store, scheme, bucket, keys } of outputs.buckets) {
    for (const key of await existingKeys(store, bucket, keys))
      overwrites.push(uriOf({ scheme, bucket, key }));
  }
  return overwrites.sort();
}
