import type { JobToken } from '../core/ids.js';
import type { OutputFile, PendingSet } from '../core/records/attempt-record.js';
import { unreadable } from '../core/records/codec.js';
import type { CommitDecision } from '../core/records/decision.js';
import { isStoreError, type ObjectHead, type ObjectStore } from '../ports/object-store.js';
import { abortUploads } from './abort-uploads.js';
import { inTime, isoNow, type AppContext } from './context.js';
import { outputsOf } from './files-of.js';
import type { JobFacts } from './facts.js';
import { deleteAfterLook } from './fence.js';
import { eachWinner } from './load-records.js';
import { mapLimit } from './map-limit.js';
import { commitbridgeIdName } from './open-file.js';
import type { Root } from './roots.js';
import { abortLosers, lookAgain, removeProcessed } from './sweep.js';

/** Makes `rollback` the outcome; false where the job was published before. */
export async function beginRollback(ctx: AppContext, facts: JobFacts, reason: string): Promise<boolean> {
  const { value } = await facts.createOutcome({ outcome: 'rollback', reason, at: isoNow(ctx.clock) });
  return value.outcome === 'rollback' || value.outcome === 'rolled-back';
}

/** What a rollback found at a final key, and did about it. */
export type KeyFate =
  /** The job's own object, which is deleted. */
  | 'removed'
  /** Not the job's: another writer's, or what was there before. It stays. */
  | 'foreign'
  | 'absent';

/**
 * Undoes a publication whose outcome is `rollback`: aborts every upload first, so that no publisher that is still
 * awake can complete one, then deletes the objects that are provably this job's. Safe to repeat, by anybody.
 */
export async function finishRollback(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  facts: JobFacts,
  decision: CommitDecision,
  observe: (file: OutputFile, fate: KeyFate) => void = () => undefined,
): Promise<void> {
  const stored = await facts.readOutcome();
  if (stored?.value.outcome !== 'rollback') return;
  const plan = await facts.readPlan(decision.plan);
  // A commit of the job may be under way beside it and hold all of it: it is read again rather than held once more.
  const winners = async (visit: (set: PendingSet) => Promise<void>): Promise<void> => {
    if (plan !== undefined && (await eachWinner(ctx, root, token, plan.winners, visit))) return;
    // Records go only after `rolled-back`: somebody was faster.
    const outcome = await facts.readOutcome();
    if (outcome?.value.outcome === 'rollback')
      throw unreadable(facts.layout.plan(decision.plan), 'it or a record that it lists is gone');
  };
  const removeOutputs = (tell: typeof observe): Promise<void> =>
    winners(async (set) => {
      await mapLimit(outputsOf([set]), ctx.options.recordConcurrency, async (file) => {
        tell(file, await deleteOurs(ctx.roots.storeOf(file), file));
      });
    });
  let inlineFiles = 0;
  await winners(async (set) => {
    inlineFiles += set.inline.length;
    await abortUploads(ctx, set.files);
  });
  // A publisher that looked before `rollback` was there has sent its inline puts by then, or the store refuses them.
  if (inlineFiles > 0) await ctx.clock.sleep(ctx.options.requestBoundMs);
  await removeOutputs(observe);
  // Nothing of the plan is published: every upload goes.
  const processed = await abortLosers(ctx, root, token, facts.layout.jobAttempt);
  const done = { outcome: 'rolled-back', reason: stored.value.reason, at: isoNow(ctx.clock) } as const;
  await facts.replaceOutcome(done, stored.etag, inTime(ctx));
  // Some stores let a Complete that was under way at the abort make its object after both were answered (seen on
  // s3proxy and versitygw). The records stay until nothing can be under way any more; gc looks too where they do.
  lookAgain(ctx, processed.aborted, async () => {
    await removeOutputs(() => undefined);
    removeProcessed(ctx, root, { ...processed, aborted: [] });
  });
}

export async function deleteOurs(store: ObjectStore, file: OutputFile): Promise<KeyFate> {
  if (!store.capabilities.conditionalDelete) return deleteOursAfterLook(store, file);
  for (let tries = 1; ; tries++) {
    const found = await store.head(file);
    const fate = fateOf(found, file);
    if (found === undefined || fate !== 'removed') return fate;
    try {
      await store.delete(file, { ifMatch: found.etag });
      return 'removed';
    } catch (error) {
      if (isStoreError(error, 'not-found')) return 'absent';
      // Replaced since the HEAD, or a 409 that changed nothing: the next HEAD tells.
      if (!isStoreError(error, 'precondition-failed', 'conflict') || tries === maxDeletes) throw error;
    }
  }
}

async function deleteOursAfterLook(store: ObjectStore, file: OutputFile): Promise<KeyFate> {
  // A rollback looks at many keys that aren't there, for which nothing need be signed.
  let fate = fateOf(await store.head(file), file);
  if (fate !== 'removed') return fate;
  await deleteAfterLook(store, file, async () => {
    fate = fateOf(await store.head(file), file);
    return fate === 'removed';
  });
  return fate;
}

/** What will become of an object that is seen there. */
function fateOf(found: ObjectHead | undefined, file: OutputFile): KeyFate {
  if (found === undefined) return 'absent';
  return found.metadata[commitbridgeIdName] === file.commitbridgeId ? 'removed' : 'foreign';
}

const maxDeletes = 5;
