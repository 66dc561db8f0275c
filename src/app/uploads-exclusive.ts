import type { JobToken } from '../core/ids.js';
import { isWithin } from '../core/uri.js';
import type { AppContext } from './context.js';
import type { Root } from './roots.js';
import { mapLimit } from './map-limit.js';
import { listUploadsUnder } from './uploads.js';

/**
 * Aborts every open upload under the destination of a job that was aborted, where the configuration states that
 * nobody else writes there (`cleanup.listing: exclusive`): also those that no ledger saw. S3A's abortJob does it to
 * all (HADOOP-17318). Only for a job that was set up: an AbortJob that names any destination lists nothing.
 */
export async function abortListedUploads(
  ctx: AppContext,
  staged: Root,
  token: JobToken,
  jobAttempt: number,
): Promise<void> {
  // Most configurations have no such root: then nothing is asked.
  if (!ctx.roots.all.some(({ listing }) => listing === 'exclusive')) return;
  const job = await ctx.jobs.read(staged, token, jobAttempt);
  if (job === undefined) return;
  const root = ctx.roots.all.find(({ uri }) => isWithin(uri, job.destination));
  if (root?.listing !== 'exclusive') return;
  if (!root.store.capabilities.listUploadsByPrefix) {
    ctx.logger.warn('the store cannot list uploads by prefix: cleanup.listing has no effect', { job: token });
    return;
  }
  const { bucket } = job.destination;
  const aborted = await mapLimit(
    listUploadsUnder(root, job.destination),
    ctx.options.recordConcurrency,
    ({ key, uploadId }) => root.store.abort({ bucket, key, uploadId }),
  );
  if (aborted.length > 0) ctx.logger.info('listed uploads aborted', { job: token, uploads: aborted.length });
}
