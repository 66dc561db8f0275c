import type { JobToken } from '../core/ids.js';
import type { CommitDecision } from '../core/records/decision.js';
import type { Deletion, Plan } from '../core/records/plan.js';
import type { Outcome } from '../core/records/outcome.js';
import type { JobRecord } from '../core/records/job-record.js';
import { encodeSuccessMarker, maxFilenames, successMarkerName } from '../core/records/success-marker.js';
import { joinKey, parseUri } from '../core/uri.js';
import { isStoreError, type PutOptions } from '../ports/object-store.js';
import { inTime, isoNow, type AppContext } from './context.js';
import type { JobFacts, Stored } from './facts.js';
import { isTooLate, signDelete, signPut, type SendPut } from './fence.js';
import { sameEtag } from './load-records.js';
import { allDone, mapLimit } from './map-limit.js';
import type { PublishedNow } from './publish.js';
import type { RecordSet } from './record-set.js';
import type { Root } from './roots.js';
import { abortLosers, removeProcessed, type Processed } from './sweep.js';
import type { WinnerSets } from './winner-sets.js';

export interface Finish {
  readonly root: Root;
  readonly token: JobToken;
  /** The job attempt that calls, which may have adopted the deciding one. */
  readonly jobAttempt: number;
  /** Of the deciding job attempt. */
  readonly facts: JobFacts;
  readonly decision: CommitDecision;
  readonly plan: Plan;
  readonly sets: WinnerSets;
  readonly records?: RecordSet;
  /** job.json of the deciding job attempt, where the caller has read it since it began. */
  readonly job?: JobRecord;
  /** Where the caller has made the job `published` just now. */
  readonly published?: PublishedNow;
  /** Where the caller has begun already to abort the losers. */
  readonly sweeping?: Promise<Processed>;
}

/**
 * What is left to do once all files are visible: old objects, the marker, the losers, `done`. Safe to repeat, by anybody.
 *
 * @returns true where this call has written `done`.
 */
export async function finish(ctx: AppContext, input: Finish): Promise<boolean> {
  const { root, token, facts } = input;
  if (!(await deleteAllReplaced(ctx, facts, input.plan.deletions))) return false;
  const job = input.job ?? (await facts.readJob());
  const hasMarker = job?.options.successMarker === true;
  const [seen, processed] = await allDone(
    hasMarker ? writeMarker(ctx, input, job) : Promise.resolve(input.published?.outcome),
    input.sweeping ?? abortLosers(ctx, root, token, input.jobAttempt, input.sets.uploads, input.records),
  );
  const isDone = await markDone(ctx, facts, seen);
  removeProcessed(ctx, root, processed);
  return isDone;
}

/** Deletions that are signed and looked at together: few enough for the fence, many enough for one look. */
const fencedBatch = 128;

/** False where the job is no longer `published`: somebody else has finished it, and deletes nothing for it any more. */
async function deleteAllReplaced(
  ctx: AppContext,
  facts: JobFacts,
  deletions: readonly Deletion[],
): Promise<boolean> {
  const isConditional = (deletion: Deletion): boolean =>
    ctx.roots.storeOf(deletion).capabilities.conditionalDelete;
  const { completeConcurrency } = ctx.options;
  await mapLimit(deletions.filter(isConditional), completeConcurrency, (deletion) =>
    deleteUnchanged(ctx, deletion),
  );
  const others = deletions.filter((deletion) => !isConditional(deletion));
  for (let start = 0; start < others.length; start += fencedBatch) {
    const batch = others.slice(start, start + fencedBatch);
    if (!(await deleteBatch(ctx, facts, batch))) return false;
  }
  return true;
}

/** Signed first, then the outcome is read, then each object is looked at and deleted; once more what came too late. */
async function deleteBatch(ctx: AppContext, facts: JobFacts, batch: readonly Deletion[]): Promise<boolean> {
  const { completeConcurrency } = ctx.options;
  let todo = batch;
  for (let tries = 1; todo.length > 0; tries++) {
    const signed = await mapLimit(todo, completeConcurrency, async (deletion) => ({
      deletion,
      send: await signDelete(ctx.roots.storeOf(deletion), deletion),
    }));
    if ((await facts.readOutcome())?.value.outcome !== 'published') return false;
    const late: Deletion[] = [];
    await mapLimit(signed, completeConcurrency, async ({ deletion, send }) => {
      if (!(await isUnchanged(ctx, deletion))) return;
      try {
        await send();
      } catch (error) {
        if (!isTooLate(error, tries)) throw error;
        late.push(deletion);
      }
    });
    todo = late;
  }
  return true;
}

async function isUnchanged(ctx: AppContext, deletion: Deletion): Promise<boolean> {
  return sameEtag((await ctx.roots.storeOf(deletion).head(deletion))?.etag, deletion.etag);
}

/** An object that changed since the plan was made is another writer's, and stays. */
async function deleteUnchanged(ctx: AppContext, deletion: Deletion): Promise<void> {
  const store = ctx.roots.storeOf(deletion);
  for (let tries = 1; ; tries++) {
    try {
      await store.delete(deletion, { ifMatch: deletion.etag }, inTime(ctx));
      return;
    } catch (error) {
      if (isStoreError(error, 'precondition-failed', 'not-found')) return;
      if (!isStoreError(error, 'conflict') || tries === maxDeletes) throw error;
      // A 409 may have changed nothing: an old object that stays beside the new ones is data twice.
      if (!(await isUnchanged(ctx, deletion))) return;
    }
  }
}

const maxDeletes = 5;

/** `seen` spares reading the outcome where it is still that one. */
async function markDone(
  ctx: AppContext,
  facts: JobFacts,
  seen: Stored<Outcome> | undefined,
): Promise<boolean> {
  for (let stored = seen ?? (await facts.readOutcome()); ; stored = await facts.readOutcome()) {
    // Gone: somebody else has finished the job and it was collected since.
    if (stored?.value.outcome !== 'published') return false;
    if (await facts.replaceOutcome({ outcome: 'done', at: isoNow(ctx.clock) }, stored.etag, inTime(ctx)))
      return true;
  }
}

const maxMarkerTries = 6;

type MarkerCondition = Pick<PutOptions, 'ifNoneMatch'>;
const whereNoneIs: MarkerCondition = { ifNoneMatch: '*' };

/** The marker of the job, to be sent within the fence's time. */
export function signMarker(
  root: Root,
  job: JobRecord,
  condition: MarkerCondition = whereNoneIs,
): Promise<SendPut> {
  const destination = parseUri(job.destination, 'destination');
  const object = { bucket: destination.bucket, key: joinKey(destination.key, successMarkerName) };
  return signPut(root.store, object, { ...condition, contentType: 'application/json' });
}

/**
 * The marker of the last committer stays. It is put only where none is; one that is there (another job's, or this
 * one's from an earlier try) is replaced. Signed first, then the outcome is read, then it is sent: of a job that is done
 * no late marker lands, not even one whose daemon stood still in between.
 *
 * @returns the outcome as it was before the marker was sent.
 */
async function writeMarker(
  ctx: AppContext,
  input: Finish,
  job: JobRecord,
): Promise<Stored<Outcome> | undefined> {
  const { root, facts, published } = input;
  const body = markerBody(input.decision, job, input.sets.firstKeys(maxFilenames));
  let condition = whereNoneIs;
  for (let tries = 1; ; tries++) {
    const isFirst = tries === 1 && published?.sendMarker !== undefined;
    const send = isFirst ? published.sendMarker : await signMarker(root, job, condition);
    const stored = isFirst ? published.outcome : await facts.readOutcome();
    if (stored?.value.outcome !== 'published') return stored;
    try {
      await send(body);
      return stored;
    } catch (error) {
      const isThere = isStoreError(error, 'precondition-failed', 'conflict') && tries < maxMarkerTries;
      if (!isThere && !isTooLate(error, tries)) throw error;
      if (isThere) condition = {};
    }
  }
}

function markerBody(decision: CommitDecision, job: JobRecord, keys: readonly string[]): Uint8Array {
  return encodeSuccessMarker({
    token: job.token,
    jobAttempt: job.jobAttempt,
    files: decision.files,
    bytes: decision.bytes,
    tasks: decision.tasks,
    decidedAt: decision.decidedAt,
    description: job.description,
    keys,
  });
}
