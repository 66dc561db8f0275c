import { losers, UploadSet } from '../core/abort-rule.js';
import type { JobToken } from '../core/ids.js';
import {
  pendingSetDigest,
  pendingSetIn,
  uploadsIn,
  type OutputFile,
  type PendingFile,
  type PendingSet,
  type UploadIdentity,
} from '../core/records/attempt-record.js';
import type { Plan } from '../core/records/plan.js';
import { JobLayout } from '../core/staging-layout.js';
import { isStoreError, type ListedObject } from '../ports/object-store.js';
import { abortUploads } from './abort-uploads.js';
import { isListed } from './commit-task.js';
import type { AppContext } from './context.js';
import { deleteAfterLook } from './fence.js';
import { readStates, type DecidingState } from './gc-states.js';
import { listStagedJob } from './gc-staged-jobs.js';
import { readClaims } from './claims.js';
import { readClosedFiles } from './closed-files.js';
import { factsOf } from './job-directory.js';
import { loadRecords, sameEtag, type LoadedRecord } from './load-records.js';
import { outputsOf } from './files-of.js';
import { mapLimit } from './map-limit.js';
import { deleteOurs } from './rollback.js';
import type { Root } from './roots.js';
import { listState } from './staged-state.js';

/** Records and ledger segments that came after their job's end, or that a killed daemon did not remove. */
export interface LateRecords {
  readonly records: number;
  readonly ledgerSegments: number;
  /** Records of single files, of jobs with `TASK_RECORDS_STORE`. */
  readonly closedFiles: number;
  /** Of jobs with `TASK_RECORDS_DRIVER`. */
  readonly claims: number;
  /** That the decision does not list. Some may have been aborted before. */
  readonly uploads: number;
}

export const noLateRecords: LateRecords = {
  records: 0,
  ledgerSegments: 0,
  closedFiles: 0,
  claims: 0,
  uploads: 0,
};

/**
 * Processes what lies in the job attempts whose deciding one has ended: aborts every upload that no decision of the
 * job lists, then removes the records and segments by name. Attempts that have not ended are left alone.
 */
export async function processLateRecords(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  states: ReadonlyMap<number, DecidingState>,
  dryRun: boolean,
): Promise<LateRecords> {
  const records: LoadedRecord[] = [];
  const segments: string[] = [];
  const closedFiles: string[] = [];
  const claims: string[] = [];
  const claimed: PendingSet[] = [];
  const ledger: UploadIdentity[] = [];
  const rolledBack: PendingSet[] = [];
  for (const staged of await listState(root, token)) {
    const known = states.get(staged.jobAttempt);
    if (known?.isOver !== true) continue;
    const facts = factsOf(root, token, staged.jobAttempt);
    const found = await loadRecords(ctx, facts, staged.records);
    records.push(...found);
    const { keys, sets } = await readClaims(ctx, facts, staged.claims);
    claims.push(...keys);
    claimed.push(...sets);
    if (known.state.state === 'rolled-back') {
      rolledBack.push(
        ...found.map(({ record }) => pendingSetIn(record)).filter((set) => set !== undefined),
        ...sets,
      );
    }
    for (const key of staged.ledgerSegments) ledger.push(...(await facts.readLedgerSegment(key)));
    segments.push(...staged.ledgerSegments);
    const closed = await readClosedFiles(ctx, facts, staged.closedFiles);
    ledger.push(...closed.map(({ file }) => file));
    closedFiles.push(...staged.closedFiles);
  }
  if (records.length + segments.length + closedFiles.length + claims.length === 0) return noLateRecords;

  const plans = await livePlans(root, token, states);
  const winning = new UploadSet();
  for (const { record } of records) {
    // By attempt, so that a recovered winner counts in both of its records.
    if (!plans.some((plan) => isListed(plan, record.attempt))) continue;
    for (const upload of uploadsIn(record)) winning.add(upload);
  }
  // By content: a driver may have handed over the same attempt with other files before.
  const digests = new Set(plans.flatMap(({ winners }) => winners.map(({ digest }) => digest)));
  for (const set of claimed) {
    if (digests.has(pendingSetDigest(set))) for (const file of set.files) winning.add(file);
  }
  const doomed = losers([...records.map(({ record }) => record), ...claimed], ledger, winning);
  if (!dryRun) {
    await abortUploads(ctx, doomed);
    await removeLateObjects(ctx, rolledBack, winning);
    await mapLimit(records, ctx.options.recordConcurrency, (record) => removeUnchanged(root, record));
    const named = [...segments, ...closedFiles, ...claims];
    for (let start = 0; start < named.length; start += 1_000) {
      await root.store.deleteMany(root.staging.bucket, named.slice(start, start + 1_000));
    }
  }
  return {
    records: records.length,
    ledgerSegments: segments.length,
    closedFiles: closedFiles.length,
    claims: claims.length,
    uploads: doomed.length,
  };
}

/**
 * A rollback's second look: on some stores a Complete that was under way when its upload was aborted made its object
 * after that. The records of a job that was rolled back stay until somebody has looked again.
 */
async function removeLateObjects(
  ctx: AppContext,
  rolledBack: readonly PendingSet[],
  winning: UploadSet,
): Promise<void> {
  const isWinner = (file: OutputFile): boolean => 'uploadId' in file && winning.has(file as PendingFile);
  const files = [...outputsOf(rolledBack)].filter((file) => !isWinner(file));
  await mapLimit(files, ctx.options.recordConcurrency, (file) => deleteOurs(ctx.roots.storeOf(file), file));
}

/** Also those of a decision that has not ended: an upload that it lists stays, wherever else it is named. */
async function livePlans(
  root: Root,
  token: JobToken,
  states: ReadonlyMap<number, DecidingState>,
): Promise<Plan[]> {
  const plans: Plan[] = [];
  for (const { deciding, state } of new Set(states.values())) {
    if (state.state !== 'publishing' && state.state !== 'published' && state.state !== 'done') continue;
    // Gone: the job is half collected, so every winner is completed long since and no abort does anything to it.
    const plan = await factsOf(root, token, deciding).readPlan(state.decision.plan);
    if (plan !== undefined) plans.push(plan);
  }
  return plans;
}

/**
 * Removes the facts of a job of which nothing is newer than `olderThanMs` (a date by the store's clock), once all its
 * attempts have ended and no record is left: plan, job.json, outcome, decision, each as it was listed before its job
 * was found to have ended. The decision goes last, so that at no moment a late SetupJob finds a free token and
 * somebody's old outcome. Attempts that point to another one (superseded, adopted) go before it, so that a reader
 * always finds the end of the chain.
 *
 * @returns how many objects were removed, or would be.
 */
export async function collectFacts(
  root: Root,
  token: JobToken,
  notAfterMs: number,
  dryRun: boolean,
): Promise<number> {
  const listed = await listStagedJob(root, token);
  if (listed.length === 0 || listed.some(({ lastModifiedMs }) => lastModifiedMs > notAfterMs)) return 0;
  // A real run has removed the records by now.
  const byAttempt = factsByAttempt(
    root,
    token,
    dryRun ? listed.filter((object) => !isRecord(root, object)) : listed,
  );
  if (byAttempt === undefined) return 0;
  const states = await readStates(root, token, [...byAttempt.keys()]);
  if ([...states.values()].some(({ isOver }) => !isOver)) return 0;
  if (dryRun) return [...byAttempt.values()].reduce((sum, facts) => sum + facts.length, 0);

  const isPointer = (jobAttempt: number): boolean => states.get(jobAttempt)?.deciding !== jobAttempt;
  const ascending = [...byAttempt.keys()].sort((a, b) => a - b);
  let removed = 0;
  for (const jobAttempt of [...ascending.filter(isPointer), ...ascending.filter((n) => !isPointer(n))]) {
    for (const fact of byAttempt.get(jobAttempt) ?? []) {
      // The token is in use again: whatever is left belongs to that use.
      if (!(await removeUnchanged(root, fact))) return removed;
      removed++;
    }
  }
  return removed;
}

/** Below a directory of its job attempt, as no fact is. */
function isRecord({ staging }: Root, { key }: ListedObject): boolean {
  return key.slice(staging.key.length + 1).split('/').length > 3;
}

/** The facts of each job attempt in the order of their removal; `undefined` where anything else is there. */
function factsByAttempt(
  root: Root,
  token: JobToken,
  listed: readonly ListedObject[],
): Map<number, ListedObject[]> | undefined {
  const found = new Map<number, { rank: number; object: ListedObject }[]>();
  for (const object of listed) {
    const number = Number(object.key.split('/').at(-2));
    if (!Number.isSafeInteger(number)) return undefined;
    const layout = new JobLayout(root.staging.key, token, number);
    const order = [layout.job, layout.outcome, layout.decision];
    const rank = object.key.startsWith(layout.plan('')) ? -1 : order.indexOf(object.key);
    if (rank === -1 && !object.key.startsWith(layout.plan(''))) return undefined;
    const facts = found.get(number) ?? [];
    facts.push({ rank, object });
    found.set(number, facts);
  }
  const sorted = [...found].map(([number, facts]): [number, ListedObject[]] => [
    number,
    facts.sort((a, b) => a.rank - b.rank).map(({ object }) => object),
  ]);
  return new Map(sorted);
}

/** False where the object is another one by now; absent counts as removed. */
async function removeUnchanged(
  { store, staging }: Root,
  { key, etag }: { readonly key: string; readonly etag: string },
): Promise<boolean> {
  const object = { bucket: staging.bucket, key };
  if (!store.capabilities.conditionalDelete) {
    let isGone = false;
    const outcome = await deleteAfterLook(store, object, async () => {
      const found = await store.head(object);
      isGone = found === undefined;
      return found !== undefined && sameEtag(found.etag, etag);
    });
    return outcome !== 'unwanted' || isGone;
  }
  try {
    await store.delete(object, { ifMatch: etag });
    return true;
  } catch (error) {
    if (isStoreError(error, 'not-found')) return true;
    if (!isStoreError(error, 'precondition-failed', 'conflict')) throw error;
    // An earlier try whose reply was lost, or another gc, may have removed it.
    return (await store.head(object)) === undefined;
  }
}
