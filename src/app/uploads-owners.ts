import { uploadName } from '../core/abort-rule.js';
import { isCommitterError } from '../core/errors.js';
import type { JobToken } from '../core/ids.js';
import { uploadsIn, type UploadIdentity } from '../core/records/attempt-record.js';
import type { AppContext } from './context.js';
import { stagedJobs } from './gc-staged-jobs.js';
import { readStates } from './gc-states.js';
import { readClaims } from './claims.js';
import { readClosedFiles } from './closed-files.js';
import { filesOf } from './files-of.js';
import { factsOf } from './job-directory.js';
import { loadRecords } from './load-records.js';
import type { Root } from './roots.js';
import { listState, type StagedState } from './staged-state.js';
import { stagingRoots } from './staging-roots.js';

/** The job that names an upload in a record or a ledger segment. */
export interface UploadOwner {
  readonly token: JobToken;
  /** It has not ended: the upload may be published yet. */
  readonly isRunning: boolean;
}

export interface UploadOwners {
  /** By {@link uploadName}. */
  readonly byName: ReadonlyMap<string, UploadOwner>;
  /** Jobs of which a record could not be read: whose uploads are whose is not known in full. */
  readonly unreadable: readonly JobToken[];
}

/** Looks up uploads in the state of every job that has records or a ledger left. */
export async function findOwners(ctx: AppContext, wanted: ReadonlySet<string>): Promise<UploadOwners> {
  const byName = new Map<string, UploadOwner>();
  const unreadable: JobToken[] = [];
  if (wanted.size === 0) return { byName, unreadable };
  for (const root of stagingRoots(ctx.roots.all)) {
    for await (const { token, jobAttempts, hasRecords } of stagedJobs(root, () => undefined)) {
      if (!hasRecords) continue;
      try {
        const states = await readStates(root, token, jobAttempts);
        for (const staged of await listState(root, token)) {
          const isOver = states.get(staged.jobAttempt)?.isOver ?? false;
          for await (const upload of namedUploads(ctx, root, token, staged)) {
            const name = uploadName(upload);
            // Where two attempts name it, the one that runs counts.
            const isRunning = !isOver || (byName.get(name)?.isRunning ?? false);
            if (wanted.has(name)) byName.set(name, { token, isRunning });
          }
        }
      } catch (error) {
        if (!isCommitterError(error, 'RECORD_UNREADABLE')) throw error;
        ctx.logger.warn('the uploads of a job are not known', { job: token, error });
        unreadable.push(token);
      }
    }
  }
  return { byName, unreadable };
}

async function* namedUploads(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  staged: StagedState,
): AsyncGenerator<UploadIdentity> {
  const facts = factsOf(root, token, staged.jobAttempt);
  for (const { record } of await loadRecords(ctx, facts, staged.records)) yield* uploadsIn(record);
  for (const key of staged.ledgerSegments) yield* await facts.readLedgerSegment(key);
  for (const { file } of await readClosedFiles(ctx, facts, staged.closedFiles)) yield file;
  yield* filesOf((await readClaims(ctx, facts, staged.claims)).sets);
}
