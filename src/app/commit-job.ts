import { CommitterError, isCommitterError } from '../core/errors.js';
import { hasEnded, jobState, type JobState } from '../core/job-state.js';
import { unreadable } from '../core/records/codec.js';
import type { CommitDecision } from '../core/records/decision.js';
import type { Rollback } from '../core/records/outcome.js';
import type { Plan } from '../core/records/plan.js';
import { parseAttempt, type AttemptRef } from './attempt-ref.js';
import type { AppContext } from './context.js';
import { refuseOtherWinners } from './claims.js';
import type { Winners } from './choose.js';
import { decide, type Decided } from './decide.js';
import { readState } from './deciding.js';
import type { JobFacts } from './facts.js';
import { finish, signMarker } from './finish.js';
import { factsOf, nameOfJob, refuseOtherPrincipal, type Job, type JobRef } from './job-directory.js';
import { publish, type PublishedNow, type PublishInput } from './publish.js';
import { abortLosers, sweepAfterEnd, type Processed } from './sweep.js';
import { beginRollback, finishRollback } from './rollback.js';
import { WinnerSets } from './winner-sets.js';

export interface CommitJobResult {
  readonly files: number;
  readonly bytes: number;
  readonly tasks: number;
}

export interface CommitJobInput {
  readonly job: JobRef;
  readonly exactWinners: readonly AttemptRef[] | undefined;
}

export async function commitJob(
  ctx: AppContext,
  input: CommitJobInput,
  principal: string,
): Promise<CommitJobResult> {
  const exact = input.exactWinners?.map(parseAttempt);
  const job = await ctx.jobs.find(input.job, principal);
  const winners = exact === undefined ? '' : JSON.stringify(exact);
  const name = `commit ${nameOfJob(job)} ${winners}`;
  return ctx.joined.run(name, () => commitFoundJob(ctx, job, { exact }));
}

/** Goes on from whatever the store says until the job is done or can't be. */
export async function commitFoundJob(
  ctx: AppContext,
  found: Job,
  winners: Winners,
): Promise<CommitJobResult> {
  const startedAt = ctx.clock.monotonicMs();
  // A job.json that was collected must not be committed anew from a daemon's memory, nor a token's next use by the
  // options of the one that this daemon remembers.
  const [record, seen] = await Promise.all([found.facts.readJob(), readState(decidingFacts(found))]);
  if (record === undefined) {
    throw new CommitterError('JOB_NOT_FOUND', `job ${found.token} has ended and was collected`);
  }
  refuseOtherPrincipal(record, found.record.principal);
  if (record.destination !== found.record.destination) {
    throw new CommitterError(
      'JOB_NOT_FOUND',
      `job ${found.token} was set up for ${record.destination}, not for ${found.record.destination}`,
    );
  }
  const job: Job = { ...found, record };
  const { adopts } = record;
  const facts = decidingFacts(job);
  const publication = new JobPublication(ctx, job, facts);
  // What it adopts is as immutable as the rest, but for a token's next use.
  let state = adopts === found.record.adopts ? seen : await readState(facts);
  // Where a decision was adopted, the own number never decides, not even when the other is gone.
  if (state.state === 'undecided' && adopts === undefined) {
    const { decision, isNew } = (publication.decided = await decide(ctx, job, winners));
    state = isNew ? jobState(decision, undefined) : await readState(facts);
  }
  // Whoever ended the job may have looked for claims before this call's were there.
  const isLate = winners.carried !== undefined && publication.decided !== undefined;
  if (state.state === 'done' || (isLate && hasEnded(state)))
    sweepAfterEnd(ctx, job.root, job.token, job.jobAttempt);
  if (winners.carried !== undefined && publication.decided?.own === undefined) {
    const plan = await publishedPlan(facts, state);
    if (plan !== undefined) refuseOtherWinners(job, plan, winners.carried);
  }
  const decision = await publication.drive(state);
  ctx.logger.info('job committed', {
    job: job.token,
    job_attempt: job.jobAttempt,
    files: decision.files,
    duration_ms: Math.round(ctx.clock.monotonicMs() - startedAt),
  });
  return { files: decision.files, bytes: decision.bytes, tasks: decision.tasks };
}

/** Of the job attempt whose decision counts for this one, once it was set up. */
function decidingFacts({ root, token, facts, record: { adopts } }: Job): JobFacts {
  return adopts === undefined ? facts : factsOf(root, token, adopts);
}

/** What was decided; `undefined` where it is not published, or was collected since. */
async function publishedPlan(facts: JobFacts, state: JobState): Promise<Plan | undefined> {
  const isCommitted = state.state === 'publishing' || state.state === 'published' || state.state === 'done';
  return isCommitted ? facts.readPlan(state.decision.plan) : undefined;
}

/** From a commit decision to `done`, or to the error that says why not. */
export class JobPublication {
  decided: Decided | undefined;
  #published: PublishedNow | undefined;
  #sweeping: Promise<Processed> | undefined;

  constructor(
    private readonly ctx: AppContext,
    private readonly job: Job,
    private readonly facts: JobFacts,
  ) {}

  async drive(from: JobState): Promise<CommitDecision> {
    try {
      return await this.#drive(from);
    } finally {
      // Nothing goes on behind the caller's back.
      await this.#sweeping?.catch(() => undefined);
    }
  }

  async #drive(from: JobState): Promise<CommitDecision> {
    let state = from;
    for (;;) {
      let next: JobState | undefined;
      switch (state.state) {
        case 'publishing':
          next = await this.#publish(state.decision);
          break;
        case 'published':
          next = await this.#finish(state.decision);
          break;
        case 'done':
          return state.decision;
        case 'undecided':
          // A decision that was there is never taken back before its outcome.
          throw unreadable(this.facts.layout.decision, 'it is gone');
        case 'aborted':
          throw new CommitterError('JOB_ABORTED', `job ${this.job.token} was aborted: ${state.reason}`);
        case 'superseded':
          throw new CommitterError(
            'JOB_SUPERSEDED',
            `job ${this.job.token}: job attempt ${state.by} has taken over`,
          );
        case 'rolling-back':
          // What it holds of the job is of no use any more.
          this.decided = undefined;
          await finishRollback(this.ctx, this.job.root, this.job.token, this.facts, state.decision);
          throw rolledBack(this.job, state.outcome);
        case 'rolled-back':
          throw rolledBack(this.job, state.outcome);
      }
      state = next ?? (await readState(this.facts));
    }
  }

  /** @returns the state that this call has brought about; `undefined` where somebody else may have. */
  async #publish(decision: CommitDecision): Promise<JobState | undefined> {
    const { ctx, job, facts } = this;
    try {
      const loaded = await this.#load(decision, 'publishing');
      if (loaded === undefined) return undefined;
      const publication = await publish(ctx, {
        ...{ facts, ...loaded },
        mustFindNothing: job.record.options.conflictMode === 'fail',
        ...(this.#endsSoon(loaded.plan) ? this.#ahead(loaded.sets) : {}),
      });
      if (publication.result === 'published' && publication.own !== undefined) {
        this.#published = publication.own;
        return jobState(decision, publication.own.outcome.value);
      }
      if (publication.result !== 'foreign') return undefined;
      const reason = `another writer made ${publication.uri} while the job was published`;
      if (!(await beginRollback(ctx, facts, reason))) return undefined;
      await finishRollback(ctx, job.root, job.token, facts, decision);
      throw new CommitterError('DESTINATION_EXISTS', `job ${job.token} is rolled back: ${reason}`);
    } catch (error) {
      // A rollback has destroyed the uploads, or a faster publisher has cleaned up: its outcome says so.
      const isFatal = isCommitterError(error, 'FOREIGN_OBJECT', 'RECORD_UNREADABLE');
      if (!isFatal || (await readState(facts)).state === 'publishing') throw error;
      return undefined;
    }
  }

  /**
   * Nothing that takes its time comes between the outcome and the marker: neither deletions nor the reading of records. A job
   * attempt that adopted looks for losers last, since nobody else clears what its reruns leave.
   */
  #endsSoon({ deletions }: Plan): boolean {
    return deletions.length === 0 && this.#isOwn && this.decided?.own !== undefined;
  }

  /** What of the finish may go on beside the outcome. */
  #ahead({ uploads }: WinnerSets): Pick<PublishInput, 'signMarker' | 'onVisible'> {
    const { root, token, jobAttempt, record } = this.job;
    const records = this.decided?.own?.records;
    return {
      onVisible: () => {
        this.#sweeping = abortLosers(this.ctx, root, token, jobAttempt, uploads, records);
        this.#sweeping.catch(() => undefined);
      },
      ...(record.options.successMarker ? { signMarker: () => signMarker(root, record) } : {}),
    };
  }

  /** The job attempt decides for itself: its job.json says how the job is finished. */
  get #isOwn(): boolean {
    return this.facts.layout.prefix === this.job.facts.layout.prefix;
  }

  /** @returns as {@link #publish}. */
  async #finish(decision: CommitDecision): Promise<JobState | undefined> {
    const { ctx, job, facts } = this;
    const loaded = await this.#load(decision, 'published');
    if (loaded === undefined) return undefined;
    const { root, token, jobAttempt } = job;
    const isDone = await finish(ctx, {
      ...{ root, token, jobAttempt, facts, decision, ...loaded },
      ...(this.decided?.own === undefined ? {} : { records: this.decided.own.records }),
      ...(this.#isOwn ? { job: job.record } : {}),
      ...(this.#published === undefined ? {} : { published: this.#published }),
      ...(this.#sweeping === undefined ? {} : { sweeping: this.#sweeping }),
    });
    // What was seen is used once.
    this.#published = undefined;
    this.#sweeping = undefined;
    return isDone ? { state: 'done', decision } : undefined;
  }

  /** `undefined` where the job is no longer in the state that the caller saw: records go only after its end. */
  async #load(
    decision: CommitDecision,
    seen: JobState['state'],
  ): Promise<{ plan: Plan; sets: WinnerSets } | undefined> {
    const { ctx, job, facts } = this;
    const own = this.decided?.own;
    if (own !== undefined) return own;
    const plan = await facts.readPlan(decision.plan);
    const sets =
      plan === undefined ? undefined : await WinnerSets.load(ctx, job.root, job.token, plan.winners);
    if (plan !== undefined && sets !== undefined) return { plan, sets };
    if ((await readState(facts)).state !== seen) return undefined;
    throw unreadable(facts.layout.plan(decision.plan), 'it or a record that it lists is gone');
  }
}

function rolledBack({ token }: Job, { reason }: Rollback): CommitterError {
  return new CommitterError('JOB_ABORTED', `job ${token} was rolled back: ${reason}`);
}
