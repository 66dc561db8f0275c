import { CommitterError, isCommitterError } from '../core/errors.js';
import type { JobToken } from '../core/ids.js';
import type { CommitDecision } from '../core/records/decision.js';
import { tokenPrefix } from '../core/staging-layout.js';
import { formatUri } from '../core/uri.js';
import { JobPublication } from './commit-job.js';
import { isoNow, type AppContext } from './context.js';
import { readState } from './deciding.js';
import {
  factsOf,
  listAttempts,
  refuseOthersJob,
  type Job,
  type JobAddress,
  type JobRef,
} from './job-directory.js';
import { listPrefixes } from './list-all.js';
import { mapLimit } from './map-limit.js';
import { beginRollback, finishRollback } from './rollback.js';
import type { Root } from './roots.js';
import { abortLosers, removeProcessed, sweepAfterEnd } from './sweep.js';
import { abortListedUploads } from './uploads-exclusive.js';

export interface AbortJobInput {
  readonly job: JobRef;
  readonly scope: 'this-and-earlier' | 'earlier';
  readonly reason: string;
}

export async function abortJob(
  ctx: AppContext,
  input: AbortJobInput,
  principal: string,
): Promise<{ published: boolean }> {
  const address = ctx.jobs.address(input.job, principal);
  const { root } = address;
  const token = await chooseToken(ctx, input.job, address, principal);
  const highest = input.scope === 'earlier' ? address.jobAttempt - 1 : address.jobAttempt;
  const reason = input.reason === '' ? 'abortJob was called' : input.reason;
  const name = `abort ${root.storeName} ${root.staging.bucket}/${root.staging.key}/${token}/${highest}`;
  const published = await ctx.joined.run(name, () =>
    abortAttempts(ctx, root, token, highest, reason, principal),
  );
  // Not for earlier attempts only: a later one may be writing there.
  if (!published && input.scope === 'this-and-earlier') await abortListedUploads(ctx, root, token, highest);
  return { published };
}

/** The name that the job was set up under; else one that an earlier job attempt used; else the caller's first. */
async function chooseToken(
  ctx: AppContext,
  ref: JobRef,
  address: JobAddress,
  principal: string,
): Promise<JobToken> {
  const { root, tokens, jobAttempt } = address;
  try {
    return (await ctx.jobs.find(ref, principal)).token;
  } catch (error) {
    if (!isCommitterError(error, 'JOB_NOT_FOUND')) throw error;
  }
  await refuseOtherDestination(ctx, address);
  if (jobAttempt > 0) {
    for (const token of tokens) {
      const prefix = tokenPrefix(root.staging.key, token);
      if ((await listPrefixes(root.store, root.staging.bucket, prefix)).length > 0) return token;
    }
  }
  return tokens[0] as JobToken;
}

/** A token that was set up for another destination names another job, which is not the caller's to end. */
async function refuseOtherDestination(ctx: AppContext, address: JobAddress): Promise<void> {
  const destination = formatUri(address.destination);
  for (const token of address.tokens) {
    const attempts = await listAttempts(address.root, token);
    const jobs = await mapLimit(attempts, ctx.options.recordConcurrency, (number) =>
      ctx.jobs.read(address.root, token, number),
    );
    const job = jobs.find((each) => each !== undefined && each.record.destination !== destination);
    if (job === undefined) continue;
    throw new CommitterError(
      'JOB_NOT_FOUND',
      `job ${token} was set up for ${job.record.destination}, not for ${destination}; nothing was aborted`,
    );
  }
}

/**
 * Ends all job attempts up to `highest`: writes `abort` where nothing is decided, with job.json or without, so that
 * a late SetupJob is refused; rolls an unfinished publication back; finishes a published one.
 *
 * @returns true where the job's output is published and stays.
 */
export async function abortAttempts(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  highest: number,
  reason: string,
  principal?: string,
): Promise<boolean> {
  if (highest < 0) return false;
  if (principal !== undefined) await refuseOthersJob(root, token, highest, { principal });
  const own = await ctx.jobs.read(root, token, highest);
  const adopts = own?.record.adopts;
  let published = false;
  if (adopts !== undefined) {
    // A successor has adopted the same decision: it is no longer this job attempt's to undo.
    const decision = await factsOf(root, token, highest).readDecision();
    if (decision?.decision === 'superseded') throw supersededBy(token, decision.by);
    published = await abortOne(ctx, root, token, adopts, highest, reason);
  }
  if (adopts === undefined || !published) {
    for (let number = highest; number >= 0; number--) {
      if (number === adopts) continue;
      published = (await abortOne(ctx, root, token, number, highest, reason)) || published;
    }
    if (!published) removeProcessed(ctx, root, await abortLosers(ctx, root, token, highest));
  }
  ctx.logger.info('job aborted', { job: token, job_attempt: highest, published });
  return published;
}

async function abortOne(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  jobAttempt: number,
  highest: number,
  reason: string,
): Promise<boolean> {
  const facts = factsOf(root, token, jobAttempt);
  await facts.createDecision({ decision: 'abort', reason, decidedAt: isoNow(ctx.clock) });
  for (;;) {
    const state = await readState(facts);
    switch (state.state) {
      case 'undecided':
      case 'aborted':
      case 'rolled-back':
        return false;
      case 'superseded':
        if (jobAttempt < highest) return false;
        throw supersededBy(token, state.by);
      case 'done':
        sweepAfterEnd(ctx, root, token, highest);
        return true;
      case 'published': {
        const job = await requireJob(ctx, root, token, jobAttempt);
        await new JobPublication(ctx, job, facts).drive(state);
        return true;
      }
      case 'publishing':
        refuseOverwritten(token, state.decision);
        // gc removes the outcome before the decision: what looks undone may be done long since.
        await requireJob(ctx, root, token, jobAttempt);
        await beginRollback(ctx, facts, reason);
        break;
      case 'rolling-back':
        await finishRollback(ctx, root, token, facts, state.decision);
        break;
    }
  }
}

function supersededBy(token: JobToken, by: number): CommitterError {
  return new CommitterError(
    'JOB_SUPERSEDED',
    `job ${token}: job attempt ${by} has taken over; nothing was aborted`,
  );
}

function refuseOverwritten(token: JobToken, decision: CommitDecision): void {
  if (decision.overwrites === 0) return;
  throw new CommitterError(
    'OVERWROTE_OBJECTS',
    `job ${token} replaces ${decision.overwrites} objects whose bytes may be gone already: finish it with CommitJob or \`commitbridge jobs commit ${token}\`; where that fails for good, \`commitbridge jobs abort ${token} --force\` ends it and names every key`,
  );
}

async function requireJob(ctx: AppContext, root: Root, token: JobToken, jobAttempt: number): Promise<Job> {
  const job = await ctx.jobs.read(root, token, jobAttempt);
  if (job === undefined)
    throw new CommitterError('JOB_NOT_FOUND', `job ${token} has ended and was collected`);
  return job;
}
