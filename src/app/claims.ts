import { pendingSetDigest, type PendingSet } from '../core/records/attempt-record.js';
import type { Plan } from '../core/records/plan.js';
import { notCommitted } from '../core/winners.js';
import { CommitterError } from '../core/errors.js';
import type { CarriedPendingset } from './carried-pendingsets.js';
import { leaveOutUnreadable, type AppContext } from './context.js';
import { withoutContent } from './files-of.js';
import type { JobFacts, ListedRecord } from './facts.js';
import type { Job } from './job-directory.js';
import { mapLimit } from './map-limit.js';

/** Few enough requests for a job of any size, and small enough to be read as a whole. */
const maxClaimBytes = 8 * 1024 * 1024;
const writeConcurrency = 4;

/**
 * Makes what the driver carried durable, then looks whether an abortTask took one of the attempts out. AbortTask writes
 * its tombstone first and looks for claims then: of two that meet, one sees the other. Whichever attempt passes here is
 * left alone by every abortTask until the job has ended.
 *
 * @returns the claim of each pendingset.
 * @throws CommitterError WINNER_NOT_COMMITTED where one was aborted: nothing is decided.
 */
export async function claim(
  ctx: AppContext,
  job: Job,
  carried: readonly CarriedPendingset[],
): Promise<string[]> {
  const hashes = await writeClaims(job.facts, carried);
  await refuseBuried(ctx, job.facts, carried);
  return hashes;
}

async function writeClaims(facts: JobFacts, carried: readonly CarriedPendingset[]): Promise<string[]> {
  const written = await mapLimit(chunksOf(carried), writeConcurrency, async (chunk) => {
    const hash = await facts.writeClaim(chunk.map(({ record }) => record));
    return chunk.map(() => hash);
  });
  return written.flat();
}

function* chunksOf(carried: readonly CarriedPendingset[]): Generator<readonly CarriedPendingset[]> {
  let chunk: CarriedPendingset[] = [];
  let bytes = 0;
  for (const each of carried) {
    if (bytes + each.record.length > maxClaimBytes && chunk.length > 0) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(each);
    bytes += each.record.length;
  }
  if (chunk.length > 0) yield chunk;
}

async function refuseBuried(
  ctx: AppContext,
  facts: JobFacts,
  carried: readonly CarriedPendingset[],
): Promise<void> {
  const byName = new Map(
    carried.map(({ set: { attempt } }) => [`${attempt.task}/${attempt.number}`, attempt]),
  );
  // Other attempts' tombstones cost no look.
  const named: ListedRecord[] = [];
  for await (const listed of facts.listRecords()) {
    if (byName.has(`${listed.task}/${listed.attemptNumber}`)) named.push(listed);
  }
  await mapLimit(named, ctx.options.recordConcurrency, async ({ task, attemptNumber }) => {
    const attempt = byName.get(`${task}/${attemptNumber}`);
    const stored = await facts.readRecord(task, attemptNumber);
    if (attempt === undefined || stored === undefined) return;
    // One number is one attempt's: of two that have it, AbortTask of the second one left no tombstone.
    const { id } = stored.value.attempt;
    throw notCommitted(attempt, id === attempt.id ? 'it was aborted' : `its number was used by ${id}`);
  });
}

/** A driver that hands over other attempts than those that were decided must not take them for published. */
export function refuseOtherWinners(job: Job, plan: Plan, carried: readonly CarriedPendingset[]): void {
  const planned = new Set(plan.winners.map(({ digest }) => digest));
  const other = carried.find(({ set }) => !planned.has(pendingSetDigest(set)));
  if (other === undefined && planned.size === carried.length) return;
  const what = other === undefined ? 'others besides these' : `without task attempt ${other.set.attempt.id}`;
  throw new CommitterError(
    'JOB_COMMITTED',
    `job ${job.token} was committed with other pendingsets, ${what}: they stay, and these are not published`,
  );
}

/** By key, of one job attempt. One that cannot be read is left out where the job is ended by force. */
export async function readClaims(
  ctx: AppContext,
  facts: JobFacts,
  keys: readonly string[],
): Promise<{ readonly keys: readonly string[]; readonly sets: readonly PendingSet[] }> {
  const read: string[] = [];
  const sets: PendingSet[] = [];
  for (const key of keys) {
    const hash = facts.layout.parseClaimKey(key);
    if (hash === undefined) continue;
    try {
      sets.push(...((await facts.readClaim(hash)) ?? []).map(withoutContent));
      read.push(key);
    } catch (error) {
      leaveOutUnreadable(ctx, error);
    }
  }
  return { keys: read, sets };
}
