import {
  pendingSetDigest,
  pendingSetIn,
  type AttemptRecord,
  type PendingSet,
} from '../core/records/attempt-record.js';
import { unreadable } from '../core/records/codec.js';
import type { Plan, Winner } from '../core/records/plan.js';
import type { JobToken, TaskName } from '../core/ids.js';
import { leaveOutUnreadable, type AppContext } from './context.js';
import type { JobFacts, ListedRecord } from './facts.js';
import { InlineBudget } from './inline-budget.js';
import { factsOf } from './job-directory.js';
import { mapLimit } from './map-limit.js';
import type { Root } from './roots.js';

/** A record and where it lies, so that it can be removed by name once it is processed. */
export interface LoadedRecord {
  readonly key: string;
  readonly etag: string;
  readonly task: TaskName;
  readonly attemptNumber: number;
  readonly record: AttemptRecord;
}

/** Every record of a job attempt, or those listed. `known` spares reading those again that have not changed. */
export async function loadRecords(
  ctx: AppContext,
  facts: JobFacts,
  known: readonly LoadedRecord[] = [],
  listing: Iterable<ListedRecord> | AsyncIterable<ListedRecord> = facts.listRecords(),
): Promise<LoadedRecord[]> {
  const byKey = new Map(known.map((record) => [record.key, record]));
  const budget = new InlineBudget();
  const loaded = await mapLimit(listing, ctx.options.recordConcurrency, async (listed) => {
    const before = byKey.get(listed.key);
    if (before !== undefined && sameEtag(before.etag, listed.etag)) return before;
    return load(facts, listed, budget).catch((error: unknown) => {
      leaveOutUnreadable(ctx, error);
      return undefined;
    });
  });
  return loaded.filter((record) => record !== undefined);
}

async function load(
  facts: JobFacts,
  listed: ListedRecord,
  budget: InlineBudget,
): Promise<LoadedRecord | undefined> {
  const { key, task, attemptNumber } = listed;
  const stored = await facts.readRecord(task, attemptNumber);
  if (stored === undefined) return undefined;
  const { attempt } = stored.value;
  if (
    stored.value.token !== facts.layout.token ||
    attempt.task !== task ||
    attempt.number !== attemptNumber
  ) {
    throw unreadable(
      key,
      `it says that it is of job ${stored.value.token}, ${attempt.task}, number ${attempt.number}`,
    );
  }
  const record = stored.value.kind === 'pendingset' ? budget.take(stored.value) : stored.value;
  return { key, task, attemptNumber, etag: stored.etag, record };
}

/**
 * The pendingsets that a plan publishes, each as the plan saw it; `undefined` where one is gone. By force
 * ({@link AppContext.leaveOut}): those that can be read.
 */
export async function loadWinners(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  plan: Plan,
): Promise<PendingSet[] | undefined> {
  const budget = new InlineBudget();
  let leftOut = 0;
  const sets = await mapLimit(plan.winners, ctx.options.recordConcurrency, async (winner) => {
    const set = await loadWinner(root, token, winner).catch((error: unknown) => {
      leaveOutUnreadable(ctx, error);
      leftOut++;
      return undefined;
    });
    return set === undefined ? undefined : budget.take(set);
  });
  const found = sets.filter((set) => set !== undefined);
  return found.length + leftOut === sets.length ? found : undefined;
}

async function loadWinner(root: Root, token: JobToken, winner: Winner): Promise<PendingSet | undefined> {
  const { task, number } = winner.attempt;
  const facts = factsOf(root, token, winner.jobAttempt);
  const stored = await facts.readRecord(task, number);
  const set = stored === undefined ? undefined : pendingSetIn(stored.value);
  if (set !== undefined && pendingSetDigest(set) !== winner.digest) {
    throw unreadable(facts.layout.record(task, number), 'it is not the one that the plan lists');
  }
  return set;
}

/** Some stores quote ETags in listings and not in GET, or the other way round. */
export function sameEtag(a: string | undefined, b: string): boolean {
  return a?.replaceAll('"', '') === b.replaceAll('"', '');
}
