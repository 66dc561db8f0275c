import { CommitterError, isCommitterError } from '../core/errors.js';
import type { JobToken } from '../core/ids.js';
import { uriOf, type PendingFile, type PendingSet } from '../core/records/attempt-record.js';
import { unreadable } from '../core/records/codec.js';
import type { Plan } from '../core/records/plan.js';
import { isStoreError } from '../ports/object-store.js';
import { abortAttempts } from './abort-job.js';
import type { AppContext } from './context.js';
import { readState } from './deciding.js';
import type { JobFacts } from './facts.js';
import { factsOf, listAttempts } from './job-directory.js';
import { eachWinner } from './load-records.js';
import { mapLimit } from './map-limit.js';
import { commitbridgeIdName } from './open-file.js';
import { beginRollback, finishRollback, type KeyFate } from './rollback.js';
import type { Root } from './roots.js';

/** A final key of a job that was ended by force. */
export interface ForcedKey {
  readonly uri: string;
  readonly fate: KeyFate;
  /** An object was there when the job was decided. With the fate `foreign` it may be there still. */
  readonly overwrote: boolean;
}

export interface ForcedEnd {
  readonly published: boolean;
  readonly keys: readonly ForcedKey[];
  /** Why each task record and ledger segment that was left out cannot be read; what it names is left alone. */
  readonly unreadable: readonly string[];
}

/**
 * AbortJob by hand, which leaves out what cannot be read, and also ends a job that overwrote keys and can be neither finished (an upload was destroyed, or
 * a key replaced by another writer) nor undone (old bytes are gone). It is rolled back as far as that goes: its uploads
 * are aborted, its own objects deleted, everybody else's left; every key is named. The outcome says `rolled-back`, as
 * for any job of which nothing is visible. Uploads and objects that only an unreadable record names stay: they are not
 * provably the job's.
 *
 * @throws CommitterError OVERWROTE_OBJECTS where the job can be finished: that loses nothing.
 */
export async function abortByForce(
  strict: AppContext,
  root: Root,
  token: JobToken,
  highest: number,
  reason: string,
): Promise<ForcedEnd> {
  const keys: ForcedKey[] = [];
  const unreadable = new Set<string>();
  const ctx = { ...strict, leaveOut: ({ message }: CommitterError) => void unreadable.add(message) };
  for (;;) {
    try {
      const published = await abortAttempts(ctx, root, token, highest, reason);
      return { published, keys, unreadable: [...unreadable].sort() };
    } catch (error) {
      if (!isCommitterError(error, 'OVERWROTE_OBJECTS')) throw error;
    }
    for (const number of (await listAttempts(root, token)).filter((jobAttempt) => jobAttempt <= highest)) {
      keys.push(...(await forceBack(ctx, root, token, factsOf(root, token, number), reason)));
    }
  }
}

async function forceBack(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  facts: JobFacts,
  reason: string,
): Promise<ForcedKey[]> {
  const state = await readState(facts);
  if (state.state !== 'publishing' || state.decision.overwrites === 0) return [];
  const plan = await facts.readPlan(state.decision.plan);
  let lost: PendingFile | undefined;
  let read = 0;
  const findLost = async ({ files }: PendingSet): Promise<void> => {
    read++;
    lost ??= await findLostIn(ctx, files);
  };
  if (plan === undefined || !(await eachWinner(ctx, root, token, plan.winners, findLost))) {
    throw unreadable(facts.layout.plan(state.decision.plan), 'it or a record that it lists is gone');
  }
  const hasUnreadable = read < plan.winners.length;
  if (lost === undefined && !hasUnreadable) {
    throw new CommitterError(
      'OVERWROTE_OBJECTS',
      `job ${token} replaces ${plan.overwrites.length} objects and can still be finished: use \`commitbridge jobs commit ${token}\`; --force is for a job that can't`,
    );
  }
  const what = lost === undefined ? 'a task whose record cannot be read' : uriOf(lost);
  const why = `${reason}, by force: ${what} cannot be published any more`;
  if (!(await beginRollback(ctx, facts, why))) return [];
  return rollBack(ctx, root, token, facts, plan);
}

async function rollBack(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  facts: JobFacts,
  plan: Plan,
): Promise<ForcedKey[]> {
  const overwrites = new Set(plan.overwrites);
  const keys: ForcedKey[] = [];
  const state = await readState(facts);
  if (state.state !== 'rolling-back') return keys;
  await finishRollback(ctx, root, token, facts, state.decision, (file, fate) => {
    const uri = uriOf(file);
    keys.push({ uri, fate, overwrote: overwrites.has(uri) });
  });
  return keys.sort((a, b) => (a.uri < b.uri ? -1 : 1));
}

/** A file of which neither the upload nor the object is there: no CommitJob can publish it. */
async function findLostIn(ctx: AppContext, files: readonly PendingFile[]): Promise<PendingFile | undefined> {
  let lost: PendingFile | undefined;
  await mapLimit(files, ctx.options.recordConcurrency, async (file) => {
    if (lost === undefined && !(await canBePublished(ctx, file))) lost = file;
  });
  return lost;
}

async function canBePublished(ctx: AppContext, file: PendingFile): Promise<boolean> {
  const store = ctx.roots.storeOf(file);
  const isPublished = async (): Promise<boolean> =>
    (await store.head(file))?.metadata[commitbridgeIdName] === file.commitbridgeId;
  if (await isPublished()) return true;
  try {
    await store.listParts(file, { maxParts: 1 });
    return true;
  } catch (error) {
    if (!isStoreError(error, 'no-such-upload', 'not-found')) throw error;
    // A publisher may have completed it between the two looks.
    return isPublished();
  }
}
