import { CommitterError } from '../core/errors.js';
import { sha256Hex } from '../core/canonical-json.js';
import { openPendingset } from '../core/handle.js';
import type { TaskAttempt, TaskName } from '../core/ids.js';
import { decodeAttemptRecord, type PendingSet } from '../core/records/attempt-record.js';
import { refuseTwoOfOneTask } from '../core/winners.js';
import { commitFoundJob, type CommitJobResult } from './commit-job.js';
import type { AppContext } from './context.js';
import { InlineBudget } from './inline-budget.js';
import { nameOfJob, type Job, type JobRef } from './job-directory.js';

/** A pendingset that came with the driver, as commitTask made it. */
export interface CarriedPendingset {
  readonly set: PendingSet;
  /** The encoded record: what a claim holds. */
  readonly record: Uint8Array;
}

const maxPendingsets = 1_000_000;

/** One CommitJobWithPendingsets: pendingsets are added in batches, and nothing is written before {@link commit}. */
export class CarriedCommit {
  readonly #carried: CarriedPendingset[] = [];
  readonly #byTask = new Map<TaskName, TaskAttempt>();
  readonly #budget = new InlineBudget();

  private constructor(
    private readonly ctx: AppContext,
    private readonly job: Job,
    private readonly count: number,
  ) {}

  static async begin(
    ctx: AppContext,
    input: { readonly job: JobRef; readonly pendingsetCount: number },
    principal: string,
  ): Promise<CarriedCommit> {
    const { pendingsetCount: count } = input;
    if (!Number.isSafeInteger(count) || count < 0) {
      throw new CommitterError(
        'INVALID_FIELD',
        `pendingset_count must be a whole number, 0 at least; got ${count}`,
      );
    }
    if (count > maxPendingsets) {
      throw new CommitterError(
        'LIMIT_EXCEEDED',
        `a driver hands over at most ${maxPendingsets} pendingsets; got ${count}: set commitbridge.task-records to client`,
      );
    }
    const job = await ctx.jobs.find(input.job, principal);
    if (job.record.options.taskRecords !== 'driver') {
      throw new CommitterError(
        'UNSUPPORTED',
        `job ${job.token} was set up without TASK_RECORDS_DRIVER: its task records are in the store, call CommitJob`,
      );
    }
    return new CarriedCommit(ctx, job, count);
  }

  /** @throws CommitterError FORGED_HANDLE */
  add(pendingsets: readonly Uint8Array[]): void {
    const { job } = this;
    for (const sealed of pendingsets) {
      const record = openPendingset(job.hmacKey, sealed);
      if (record === undefined) {
        throw new CommitterError(
          'FORGED_HANDLE',
          `a pendingset of ${sealed.length} bytes was not made by CommitTask of job ${job.token}, job attempt ${job.jobAttempt}: pass on what CommitTask returned, unchanged`,
        );
      }
      const decoded = decodeAttemptRecord(record, 'of a driver');
      if (decoded.kind !== 'pendingset' || decoded.token !== job.token) {
        throw new CommitterError('FORGED_HANDLE', `a pendingset is not of job ${job.token}`);
      }
      const { attempt } = decoded;
      // At once: one that is sent over and over must not fill the memory.
      const earlier = this.#byTask.get(attempt.task);
      if (earlier !== undefined) refuseTwoOfOneTask([earlier, attempt], 'the driver handed over');
      this.#byTask.set(attempt.task, attempt);
      this.#carried.push({ set: this.#budget.take(decoded), record });
    }
    if (this.#carried.length > this.count) this.#refuseCount();
  }

  commit(): Promise<CommitJobResult> {
    const { ctx, job } = this;
    const carried = this.#carried;
    if (carried.length !== this.count) this.#refuseCount();
    // In one order: a repeated call writes the same claims.
    carried.sort((a, b) => (a.set.attempt.task < b.set.attempt.task ? -1 : 1));
    const digests = carried.map(({ record }) => sha256Hex(record)).join('');
    return ctx.joined.run(`commit ${nameOfJob(job)} ${sha256Hex(digests)}`, () =>
      commitFoundJob(ctx, job, { carried }),
    );
  }

  /** A stream that its client cancelled can look like one that it ended: the count tells them apart. */
  #refuseCount(): never {
    throw new CommitterError(
      'INVALID_FIELD',
      `pendingset_count says ${this.count}, ${this.#carried.length} came: nothing was committed`,
    );
  }
}
