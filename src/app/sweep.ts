import { losers, UploadSet } from '../core/abort-rule.js';
import type { CommitterError } from '../core/errors.js';
import type { JobToken } from '../core/ids.js';
import type { AttemptRecord, UploadIdentity } from '../core/records/attempt-record.js';
import { abortUploads } from './abort-uploads.js';
import { readClaims } from './claims.js';
import { readClosedFiles } from './closed-files.js';
import { leaveOutUnreadable, type AppContext } from './context.js';
import { factsOf } from './job-directory.js';
import { loadRecord } from './load-records.js';
import { mapLimit } from './map-limit.js';
import { RecordSet } from './record-set.js';
import type { Root } from './roots.js';
import { stagedObjects, StagedStates, type StagedObject } from './staged-state.js';

/** Names of records and ledger segments whose every upload is completed or aborted. */
export interface Processed {
  readonly bucket: string;
  readonly keys: readonly string[];
  /** Of the uploads that they name, those that were aborted. */
  readonly aborted: readonly UploadIdentity[];
}

/**
 * Aborts every upload of the job attempts up to `upTo` that the decision does not publish. It looks anew, in
 * records and ledgers, since some came after the decision was made. Call it only once there is a decision, and for
 * a commit only once every winner is completed.
 *
 * @param winning uploads that are published.
 * @param known records that need not be read: all uploads that they name are winning.
 */
export async function abortLosers(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  upTo: number,
  winning: Pick<UploadSet, 'has'> = new UploadSet(),
  known: Pick<RecordSet, 'has'> = new RecordSet(),
): Promise<Processed> {
  const keys: string[] = [];
  const aborted: UploadIdentity[] = [];
  const abort = async (records: Iterable<AttemptRecord>, others: Iterable<UploadIdentity>): Promise<void> => {
    const doomed = losers(records, others, winning);
    await abortUploads(ctx, doomed);
    for (const upload of doomed) if (aborted.length < maxLookedAgain) aborted.push(identityOf(upload));
  };
  const others = new StagedStates();
  // One by one: a rollback beside a commit must not hold all of the job once more.
  await mapLimit(recordsIn(ctx, root, token, upTo, others), ctx.options.recordConcurrency, async (listed) => {
    const facts = factsOf(root, token, listed.jobAttempt);
    if (!known.has(listed)) {
      const loaded = await loadRecord(ctx, facts, listed);
      if (loaded === undefined) return;
      await abort([loaded.record], []);
    }
    // The text of the listing holds the whole page.
    keys.push(facts.layout.record(listed.task, listed.attemptNumber));
  });
  for (const staged of others.all()) {
    const facts = factsOf(root, token, staged.jobAttempt);
    const ledger: UploadIdentity[] = [];
    await mapLimit(staged.ledgerSegments, ctx.options.recordConcurrency, async (key) => {
      try {
        for (const upload of await facts.readLedgerSegment(key))
          if (!winning.has(upload)) ledger.push(upload);
        keys.push(key);
      } catch (error) {
        leaveOutUnreadable(ctx, error);
      }
    });
    const closed = await readClosedFiles(ctx, facts, staged.closedFiles);
    const claims = await readClaims(ctx, facts, staged.claims);
    await abort(claims.sets, [...ledger, ...closed.map(({ file }) => file)]);
    for (const record of closed) keys.push(facts.closedFileKey(record));
    keys.push(...claims.keys);
  }
  return { bucket: root.staging.bucket, keys, aborted };
}

/** The records of the job attempts up to `upTo`; `others` is given what else they have. */
async function* recordsIn(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  upTo: number,
  others: StagedStates,
): AsyncGenerator<StagedObject & { kind: 'record' }> {
  const onBadName = (error: CommitterError): void => {
    leaveOutUnreadable(ctx, error);
  };
  for await (const object of stagedObjects(root, token, onBadName)) {
    if (object.jobAttempt > upTo) continue;
    if (object.kind === 'record') yield object;
    else others.add(object);
  }
}

/**
 * What a daemon that died right after the end of a job left behind. Every winner of an ended job is completed, and
 * aborting a completed upload does nothing.
 */
export function sweepAfterEnd(ctx: AppContext, root: Root, token: JobToken, upTo: number): void {
  if (!ctx.options.cleanup) return;
  ctx.background.start('look for what an ended job left', async () => {
    removeProcessed(ctx, root, await abortLosers(ctx, root, token, upTo));
  });
}

/** Without the rest of a record, which would be held with it. */
function identityOf({ scheme, bucket, key, uploadId, commitbridgeId }: UploadIdentity): UploadIdentity {
  return { scheme, bucket, key, uploadId, commitbridgeId };
}

const maxDeletions = 1_000;

/** Cleanup is off the critical path (HADOOP-18568) and goes by name: a record that came since stays. */
export function removeProcessed(ctx: AppContext, root: Root, { bucket, keys, aborted }: Processed): void {
  if (!ctx.options.cleanup) return;
  if (aborted.length > 0) lookAgain(ctx, aborted);
  ctx.background.start('remove processed records', async () => {
    for (let start = 0; start < keys.length; start += maxDeletions) {
      const { failed } = await root.store.deleteMany(bucket, keys.slice(start, start + maxDeletions));
      if (failed.length > 0) {
        ctx.logger.warn('records not removed', { failed: failed.length, example: failed[0]?.message });
      }
    }
  });
}

/** For more than that, `gc` with a prefix or the bucket's lifecycle rule has to do. */
const maxLookedAgain = 100_000;

/**
 * A part that was under way when its upload was aborted may land afterwards; the store then keeps it, and is paid for
 * it, until the upload is aborted once more. Replies wait for the first abort; this one comes when no request can be
 * under way any more. It is lost with the daemon.
 */
export function lookAgain(
  ctx: AppContext,
  uploads: readonly UploadIdentity[],
  first: () => Promise<unknown> = () => Promise.resolve(),
): void {
  if (!ctx.options.cleanup) return;
  const again = uploads.slice(0, maxLookedAgain);
  ctx.background.start('look again at what was aborted', async (closing) => {
    await ctx.clock.sleep(ctx.options.requestBoundMs, closing);
    await first();
    await abortUploads(ctx, again);
  });
}
