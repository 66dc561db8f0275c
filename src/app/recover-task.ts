import { CommitterError } from '../core/errors.js';
import type { TaskAttempt } from '../core/ids.js';
import { parseAttempt, type AttemptRef } from './attempt-ref.js';
import { isListed } from './commit-task.js';
import type { AppContext } from './context.js';
import { readState } from './deciding.js';
import { factsOf, type Job, type JobRef } from './job-directory.js';

export interface RecoverTaskInput {
  readonly job: JobRef;
  readonly attempt: AttemptRef;
  /** The framework knows that the attempt succeeded: without a record it had nothing to commit. */
  readonly succeeded: boolean;
}

/** Carries the record of exactly that task attempt over from the job attempt before, where that was superseded. */
export async function recoverTask(
  ctx: AppContext,
  input: RecoverTaskInput,
  principal: string,
): Promise<void> {
  const attempt = parseAttempt(input.attempt);
  const job = await ctx.jobs.find(input.job, principal);
  const { root, token, jobAttempt, record } = job;
  if (jobAttempt === 0) throw notFound(attempt, 'there is no job attempt before this one');
  if (record.adopts !== undefined) {
    if (await isPublishedBy(job, record.adopts, attempt)) return;
    throw notFound(attempt, `job attempt ${record.adopts} was committed without it`);
  }

  const before = factsOf(root, token, jobAttempt - 1);
  const predecessor = await before.readJob();
  // The framework's history may tell of tasks that an earlier one committed: no record says nothing about them.
  if (predecessor === undefined) throw notFound(attempt, `job attempt ${jobAttempt - 1} was never set up`);
  if (predecessor.adopts !== undefined) {
    throw notFound(attempt, `job attempt ${jobAttempt - 1} had taken over a commit that was rolled back`);
  }
  // No record says nothing about a task there, not even that it had nothing to commit.
  if (predecessor.options.taskRecords === 'driver') {
    throw notFound(attempt, `the driver of job attempt ${jobAttempt - 1} kept its task records`);
  }
  const decision = await before.readDecision();
  if (decision?.decision !== 'superseded')
    throw notFound(attempt, `job attempt ${jobAttempt - 1} was not superseded`);
  const stored = await before.readRecord(attempt.task, attempt.number);
  if (stored?.value.attempt.id !== attempt.id) {
    if (stored === undefined && input.succeeded) {
      // Only the first can have left its records with its driver.
      const first = jobAttempt > 1 ? await factsOf(root, token, 0).readJob() : undefined;
      if (first?.options.taskRecords !== 'driver') return;
      throw notFound(attempt, 'the driver of job attempt 0 kept its task records');
    }
    throw notFound(attempt, 'it has no record');
  }
  if (stored.value.kind === 'tombstone') throw notFound(attempt, 'it was aborted');
  const created = await job.facts.createRecord(stored.value);
  if (created.status === 'exists') throw notFound(attempt, 'its number was used again in this job attempt');
  ctx.logger.info('task recovered', { job: token, job_attempt: jobAttempt, task_attempt: attempt.id });
}

async function isPublishedBy(job: Job, adopted: number, attempt: TaskAttempt): Promise<boolean> {
  const facts = factsOf(job.root, job.token, adopted);
  const state = await readState(facts);
  if (state.state !== 'publishing' && state.state !== 'published' && state.state !== 'done') return false;
  const plan = await facts.readPlan(state.decision.plan);
  return plan !== undefined && isListed(plan, attempt);
}

function notFound(attempt: TaskAttempt, why: string): CommitterError {
  return new CommitterError(
    'ATTEMPT_NOT_FOUND',
    `task attempt ${attempt.id} cannot be recovered: ${why}; the framework reruns the task`,
  );
}
