import { CommitterError, isCommitterError } from '../core/errors.js';
import { parseToken, type JobToken } from '../core/ids.js';
import type { JobState } from '../core/job-state.js';
import { parseJobAttempts, parseTokens, tokenPrefix } from '../core/staging-layout.js';
import { joinKey } from '../core/uri.js';
import { abortAttempts } from './abort-job.js';
import { commitFoundJob, type CommitJobResult } from './commit-job.js';
import type { AppContext } from './context.js';
import { decidingAttempt, readState } from './deciding.js';
import { abortByForce, type ForcedEnd } from './force-end.js';
import { factsOf } from './job-directory.js';
import { listPrefixes } from './list-all.js';
import type { Root } from './roots.js';
import { listState, type StagedState } from './staged-state.js';
import { stagingRoots } from './staging-roots.js';
import { abortListedUploads } from './uploads-exclusive.js';

/** What an operator sees of a job. */
export interface JobSummary {
  readonly token: JobToken;
  readonly jobAttempt: number;
  readonly destination: string;
  readonly description: string;
  readonly createdAt: string;
  readonly state: JobState['state'] | 'unreadable';
  readonly root: string;
}

export interface JobDetails extends JobSummary {
  readonly jobAttempts: readonly number[];
  readonly principal: string;
  readonly records: number;
  readonly ledgerSegments: number;
  /** Records of single files, with `TASK_RECORDS_STORE`. */
  readonly closedFiles: number;
  /** Records of many task attempts each, with `TASK_RECORDS_DRIVER`. */
  readonly claims: number;
  readonly files?: number;
  readonly bytes?: number;
  /** That a commit decision lists. */
  readonly tasks?: number;
  readonly reason?: string;
}

/** The hand's way to what a driver would have called: from the store alone, whoever set the job up. */
export class JobAdmin {
  constructor(private readonly ctx: AppContext) {}

  async list(): Promise<JobSummary[]> {
    const summaries: JobSummary[] = [];
    for (const root of stagingRoots(this.ctx.roots.all)) {
      const prefix = `${root.staging.key}/`;
      const tokens = parseTokens(prefix, await listPrefixes(root.store, root.staging.bucket, prefix));
      for (const token of tokens) {
        const attempts = await this.#attempts(root, token);
        const highest = attempts.at(-1);
        if (highest !== undefined) summaries.push(await this.#readableSummary(root, token, highest));
      }
    }
    return summaries;
  }

  async show(tokenText: string): Promise<JobDetails> {
    const { root, token, attempts, highest } = await this.#find(tokenText);
    const facts = factsOf(root, token, highest);
    const job = await facts.readJob();
    const state = await this.#state(root, token, highest);
    let records = 0;
    const staged = await listState(root, token, () => {
      records++;
    });
    for (const each of staged) records += each.records.length;
    const count = (names: (each: StagedState) => readonly string[]): number =>
      staged.reduce((sum, each) => sum + names(each).length, 0);
    return {
      ...(await this.#summary(root, token, highest)),
      jobAttempts: attempts,
      principal: job?.principal ?? '',
      records,
      ledgerSegments: count(({ ledgerSegments }) => ledgerSegments),
      closedFiles: count(({ closedFiles }) => closedFiles),
      claims: count(({ claims }) => claims),
      ...('decision' in state
        ? { files: state.decision.files, bytes: state.decision.bytes, tasks: state.decision.tasks }
        : {}),
      ...reasonOf(state),
    };
  }

  async commit(tokenText: string): Promise<CommitJobResult> {
    const { root, token, highest } = await this.#find(tokenText);
    const job = await this.ctx.jobs.read(root, token, highest);
    if (job === undefined) {
      throw new CommitterError(
        'JOB_NOT_FOUND',
        `job ${token} has no job.json: it was never set up, or was collected`,
      );
    }
    return commitFoundJob(this.ctx, job, {});
  }

  /** `force` ends a job that can be neither finished nor undone; `keys` then says what became of its files. */
  async abort(tokenText: string, reason: string, force = false): Promise<ForcedEnd> {
    const { root, token, highest: last } = await this.#find(tokenText);
    const highest = await this.#successorOf(root, token, last);
    const result = force
      ? await abortByForce(this.ctx, root, token, highest, reason)
      : {
          published: await abortAttempts(this.ctx, root, token, highest, reason),
          keys: [],
          unreadable: [],
        };
    if (!result.published) await abortListedUploads(this.ctx, root, token, highest);
    return result;
  }

  async #find(
    tokenText: string,
  ): Promise<{ root: Root; token: JobToken; attempts: number[]; highest: number }> {
    const token = parseToken(tokenText, 'TOKEN');
    for (const root of stagingRoots(this.ctx.roots.all)) {
      const attempts = await this.#attempts(root, token);
      const highest = attempts.at(-1);
      if (highest !== undefined) return { root, token, attempts, highest };
    }
    throw new CommitterError(
      'JOB_NOT_FOUND',
      `no staging root of the configuration holds a job ${token}: see \`commitbridge jobs list\``,
    );
  }

  async #attempts(root: Root, token: JobToken): Promise<number[]> {
    const prefix = tokenPrefix(root.staging.key, token);
    return parseJobAttempts(prefix, await listPrefixes(root.store, root.staging.bucket, prefix));
  }

  /** A SetupJob may have died after it superseded the last job attempt and before its own job.json. */
  async #successorOf(root: Root, token: JobToken, jobAttempt: number): Promise<number> {
    let current = jobAttempt;
    for (;;) {
      const decision = await factsOf(root, token, current).readDecision();
      if (decision?.decision !== 'superseded') return current;
      current = decision.by;
    }
  }

  async #state(root: Root, token: JobToken, jobAttempt: number): Promise<JobState> {
    return readState(factsOf(root, token, await decidingAttempt(root, token, jobAttempt)));
  }

  /** One damaged job must not hide the others. */
  async #readableSummary(root: Root, token: JobToken, jobAttempt: number): Promise<JobSummary> {
    try {
      return await this.#summary(root, token, jobAttempt);
    } catch (error) {
      if (!isCommitterError(error, 'RECORD_UNREADABLE')) throw error;
      const where = joinKey(root.staging.bucket, root.staging.key);
      return {
        token,
        jobAttempt,
        destination: '',
        description: error.message,
        createdAt: '',
        state: 'unreadable',
        root: where,
      };
    }
  }

  async #summary(root: Root, token: JobToken, jobAttempt: number): Promise<JobSummary> {
    const job = await factsOf(root, token, jobAttempt).readJob();
    return {
      token,
      jobAttempt,
      destination: job?.destination ?? '',
      description: job?.description ?? '',
      createdAt: job?.createdAt ?? '',
      state: (await this.#state(root, token, jobAttempt)).state,
      root: joinKey(root.staging.bucket, root.staging.key),
    };
  }
}

function reasonOf(state: JobState): { reason?: string } {
  switch (state.state) {
    case 'aborted':
      return { reason: state.reason };
    case 'rolling-back':
    case 'rolled-back':
      return { reason: state.outcome.reason };
    case 'undecided':
    case 'superseded':
    case 'publishing':
    case 'published':
    case 'done':
      return {};
  }
}
