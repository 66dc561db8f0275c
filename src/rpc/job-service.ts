import { CommitterError } from '../core/errors.js';
import { abortJob } from '../app/abort-job.js';
import { abortTask } from '../app/abort-task.js';
import { commitJob, type CommitJobResult } from '../app/commit-job.js';
import { CarriedCommit } from '../app/carried-pendingsets.js';
import { TaskCommit } from '../app/commit-task.js';
import type { AppContext } from '../app/context.js';
import { needsTaskCommit } from '../app/needs-task-commit.js';
import { recoverTask } from '../app/recover-task.js';
import { setupJob } from '../app/setup-job.js';
import { setupTask } from '../app/setup-task.js';
import * as decode from './decode.js';
import type { CommitJobWithPendingsetsRequest__Output } from './generated/commitbridge/v1/CommitJobWithPendingsetsRequest.js';
import type { CommitTaskRequest__Output } from './generated/commitbridge/v1/CommitTaskRequest.js';
import type { JobServiceHandlers } from './generated/commitbridge/v1/JobService.js';
import { clientStream, unary } from './handler.js';
import type { CallContext } from './server/call-context.js';

export function jobService(ctx: AppContext): JobServiceHandlers {
  const { logger } = ctx;
  return {
    SetupJob: unary(logger, ({ job, setupId, options, description, protocolVersion }, { principal }) => {
      const input = {
        job: decode.jobRef(job),
        setupId,
        options: decode.jobOptions(options),
        description: decode.shortText(description, 'description'),
        protocolVersion,
      };
      return setupJob(ctx, input, principal);
    }),

    SetupTask: unary(logger, ({ job, attempt }, { principal }) =>
      setupTask(ctx, { job: decode.jobRef(job), attempt: decode.attemptRef(attempt) }, principal),
    ),

    NeedsTaskCommit: unary(logger, async ({ job, attempt }, { principal }) => {
      const input = { job: decode.jobRef(job), attempt: decode.attemptRef(attempt) };
      return { needsTaskCommit: await needsTaskCommit(ctx, input, principal) };
    }),

    CommitTask: clientStream(logger, (messages, context) => receiveCommit(ctx, messages, context)),

    AbortTask: unary(logger, async ({ job, attempt, files }, { principal }) => {
      const input = {
        job: decode.jobRef(job),
        attempt: decode.attemptRef(attempt),
        files: files.map(decode.fileRef),
      };
      await abortTask(ctx, input, principal);
      return {};
    }),

    CommitJob: unary(logger, ({ job, exactWinners }, { principal }) => {
      const winners = exactWinners?.attempts.map(decode.attemptRef);
      return commitJob(ctx, { job: decode.jobRef(job), exactWinners: winners }, principal);
    }),

    CommitJobWithPendingsets: clientStream(logger, (messages, context) =>
      receivePendingsets(ctx, messages, context),
    ),

    AbortJob: unary(logger, ({ job, scope, reason }, { principal }) => {
      const input = {
        job: decode.jobRef(job),
        scope: decode.abortScope(scope),
        reason: decode.shortText(reason, 'reason'),
      };
      return abortJob(ctx, input, principal);
    }),

    IsCommitJobRepeatable: unary(logger, ({ job }, { principal }) => {
      ctx.jobs.address(decode.jobRef(job), principal);
      return { repeatable: true };
    }),

    IsRecoverySupported: unary(logger, ({ job }, { principal }) => {
      ctx.jobs.address(decode.jobRef(job), principal);
      return { supported: true };
    }),

    RecoverTask: unary(logger, async ({ job, attempt, succeeded }, { principal }) => {
      const input = { job: decode.jobRef(job), attempt: decode.attemptRef(attempt), succeeded };
      await recoverTask(ctx, input, principal);
      return {};
    }),
  };
}

async function receiveCommit(
  ctx: AppContext,
  messages: AsyncIterable<CommitTaskRequest__Output>,
  { principal }: CallContext,
): Promise<{ files: number; bytes: number; pendingset?: Buffer }> {
  let commit: TaskCommit | undefined;
  for await (const { header, files } of messages) {
    if (commit === undefined) {
      if (header === null || header === undefined) {
        throw new CommitterError('INVALID_FIELD', 'the first message of CommitTask must be its header');
      }
      const input = {
        job: decode.jobRef(header.job),
        attempt: decode.attemptRef(header.attempt),
        fileCount: decode.wholeNumber(header.fileCount),
      };
      commit = await TaskCommit.begin(ctx, input, principal);
    } else {
      if (files === null || files === undefined) {
        throw new CommitterError('INVALID_FIELD', 'messages of CommitTask after the first must carry files');
      }
      commit.add(files.files.map(decode.closedFile));
    }
  }
  if (commit === undefined) throw new CommitterError('INVALID_FIELD', 'CommitTask carried no message');
  const { pendingset, ...result } = await commit.commit();
  return pendingset === undefined ? result : { ...result, pendingset: Buffer.from(pendingset) };
}

async function receivePendingsets(
  ctx: AppContext,
  messages: AsyncIterable<CommitJobWithPendingsetsRequest__Output>,
  { principal }: CallContext,
): Promise<CommitJobResult> {
  let commit: CarriedCommit | undefined;
  for await (const { header, batch } of messages) {
    if (commit === undefined) {
      if (header === null || header === undefined) {
        throw new CommitterError(
          'INVALID_FIELD',
          'the first message of CommitJobWithPendingsets must be its header',
        );
      }
      const pendingsetCount = decode.wholeNumber(header.pendingsetCount);
      commit = await CarriedCommit.begin(ctx, { job: decode.jobRef(header.job), pendingsetCount }, principal);
    } else {
      if (batch === null || batch === undefined) {
        throw new CommitterError(
          'INVALID_FIELD',
          'messages of CommitJobWithPendingsets after the first must carry a batch',
        );
      }
      commit.add(batch.pendingsets);
    }
  }
  if (commit === undefined)
    throw new CommitterError('INVALID_FIELD', 'CommitJobWithPendingsets carried no message');
  return commit.commit();
}
