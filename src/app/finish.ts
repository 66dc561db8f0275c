import type { JobToken } from '../core/ids.js';
import type { PendingSet } from '../core/records/attempt-record.js';
import type { CommitDecision } from '../core/records/decision.js';
import type { Deletion, Plan } from '../core/records/plan.js';
import type { JobRecord } from '../core/records/job-record.js';
import { encodeSuccessMarker, successMarkerName } from '../core/records/success-marker.js';
import { joinKey, parseUri } from '../core/uri.js';
import { isStoreError } from '../ports/object-store.js';
import { isoNow, type AppContext } from './context.js';
import { outputsOf } from './files-of.js';
import type { JobFacts } from './facts.js';
import { sameEtag, type LoadedRecord } from './load-records.js';
import { mapLimit } from './map-limit.js';
import type { Root } from './roots.js';
import { abortLosers, removeProcessed } from './sweep.js';

export interface Finish {
  readonly root: Root;
  readonly token: JobToken;
  /** The job attempt that calls, which may have adopted the deciding one. */
  readonly jobAttempt: number;
  /** Of the deciding job attempt. */
  readonly facts: JobFacts;
  readonly decision: CommitDecision;
  readonly plan: Plan;
  readonly sets: readonly PendingSet[];
  readonly records?: readonly LoadedRecord[];
}

/** What is left to do once all files are visible: old objects, the marker, the losers, `done`. Safe to repeat, by anybody. */
export async function finish(ctx: AppContext, input: Finish): Promise<void> {
  const { root, token, facts } = input;
  await mapLimit(input.plan.deletions, ctx.options.completeConcurrency, (deletion) =>
    deleteReplaced(ctx, deletion),
  );
  const job = await facts.readJob();
  if (job?.options.successMarker === true) await writeMarker(ctx, input, job);
  const processed = await abortLosers(ctx, root, token, input.jobAttempt, input.sets, input.records);
  await markDone(ctx, facts);
  removeProcessed(ctx, root, processed);
}

/** An object that changed since the plan was made is another writer's, and stays. */
async function deleteReplaced(ctx: AppContext, deletion: Deletion): Promise<void> {
  const store = ctx.roots.storeOf(deletion);
  const isUnchanged = async (): Promise<boolean> =>
    sameEtag((await store.head(deletion))?.etag, deletion.etag);
  if (!store.capabilities.conditionalDelete) {
    if (await isUnchanged()) await store.delete(deletion, {});
    return;
  }
  for (let tries = 1; ; tries++) {
    try {
      await store.delete(deletion, { ifMatch: deletion.etag });
      return;
    } catch (error) {
      if (isStoreError(error, 'precondition-failed', 'not-found')) return;
      if (!isStoreError(error, 'conflict') || tries === maxDeletes) throw error;
      // A 409 may have changed nothing: an old object that stays beside the new ones is data twice.
      if (!(await isUnchanged())) return;
    }
  }
}

const maxDeletes = 5;

async function markDone(ctx: AppContext, facts: JobFacts): Promise<void> {
  for (;;) {
    const stored = await facts.readOutcome();
    // Gone: somebody else has finished the job and it was collected since.
    if (stored?.value.outcome !== 'published') return;
    if (await facts.replaceOutcome({ outcome: 'done', at: isoNow(ctx.clock) }, stored.etag)) return;
  }
}

/**
 * The marker of the last committer stays. It is put only where none is; one that is there (another job's, or this
 * one's from an earlier try) is replaced unless the job is done meanwhile.
 */
async function writeMarker(ctx: AppContext, input: Finish, job: JobRecord): Promise<void> {
  const { root, facts, decision, sets } = input;
  const destination = parseUri(job.destination, 'destination');
  const object = { bucket: destination.bucket, key: joinKey(destination.key, successMarkerName) };
  const body = encodeSuccessMarker({
    token: job.token,
    jobAttempt: job.jobAttempt,
    files: decision.files,
    bytes: decision.bytes,
    tasks: decision.tasks,
    decidedAt: decision.decidedAt,
    description: job.description,
    keys: firstKeys(sets),
  });
  const contentType = 'application/json';
  try {
    await root.store.put(object, body, { ifNoneMatch: '*', contentType });
  } catch (error) {
    if (!isStoreError(error, 'precondition-failed', 'conflict')) throw error;
    const stored = await facts.readOutcome();
    if (stored?.value.outcome === 'published') await root.store.put(object, body, { contentType });
  }
}

function firstKeys(sets: readonly PendingSet[]): string[] {
  const keys: string[] = [];
  for (const { key } of outputsOf(sets)) {
    keys.push(key);
    if (keys.length === 100) break;
  }
  return keys;
}
