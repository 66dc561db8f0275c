import { CarriedCommit } from '../../src/app/carried-pendingsets.js';
import { abortJob } from '../../src/app/abort-job.js';
import { closeFile } from '../../src/app/close-file.js';
import { abortTask } from '../../src/app/abort-task.js';
import type { AttemptRef } from '../../src/app/attempt-ref.js';
import { commitJob } from '../../src/app/commit-job.js';
import { TaskCommit, type InlineFileRef } from '../../src/app/commit-task.js';
import type { PartRef } from '../../src/app/parse-closed-file.js';
import type { AppContext } from '../../src/app/context.js';
import type { FileRef } from '../../src/app/file-ref.js';
import type { JobRef } from '../../src/app/job-directory.js';
import { openFile } from '../../src/app/open-file.js';
import { recoverTask } from '../../src/app/recover-task.js';
import { setupJob } from '../../src/app/setup-job.js';
import { isCommitterError, type CommitterError } from '../../src/core/errors.js';
import type { JobOptions } from '../../src/core/records/job-record.js';
import { isStoreError } from '../../src/ports/object-store.js';
import { bucket, DaemonDied, isRepeatable, type World } from './world.js';

const principal = 'local';
const plain: JobOptions = {
  conflictMode: 'append',
  conflictScope: 'destination',
  conflictPaths: [],
  allowOtherLocations: false,
  successMarker: true,
};

/** What a file of an attempt must hold; unlike that of any other attempt. */
export function contentOf(token: string, task: string, number: number, name: string): string {
  return `${token} ${task} ${number} ${name}`;
}

export interface DriverOptions {
  readonly token: string;
  readonly destination?: string;
  readonly jobAttempt?: number;
  readonly options?: Partial<JobOptions>;
  /** Which of the daemons that run it talks to. */
  readonly daemon?: number;
  /** Each call that succeeded is made once more. */
  readonly repeats?: boolean;
  /** It calls commitJob beside its tasks' calls, as no framework does: what is told OK from then on doesn't count. */
  readonly isReckless?: boolean;
}

/** The framework died with the daemon it spoke to. */
export class DriverDied extends Error {
  override readonly name = 'DriverDied';
}

/** A framework's side of one job attempt: it repeats calls as the shim does, and remembers what it was told. */
export class Driver {
  readonly ref: JobRef;
  readonly destination: string;
  private readonly setupId: string;
  /** Attempts whose commitTask was answered OK, in the order of the answers. */
  readonly committedAttempts: TaskAttempt[] = [];
  /** Attempts that the framework aborted: their commit counts no more. */
  readonly givenUp = new Set<string>();
  private hasBegunToCommit = false;
  /** Attempts whose OK a reckless driver heard only when it had called commitJob. */
  readonly toldTooLate = new Set<string>();
  /** The job's end as the driver was told. */
  told: 'committed' | 'aborted' | 'failed' | undefined;
  failure: CommitterError | undefined;

  constructor(
    readonly world: World,
    readonly options: DriverOptions,
  ) {
    this.destination = options.destination ?? 'out';
    this.ref = {
      tokens: [options.token],
      jobAttempt: options.jobAttempt ?? 0,
      destination: `s3a://${bucket}/${this.destination}`,
    };
    this.setupId = `driver-${options.token}-${options.jobAttempt ?? 0}-${world.random.below(2 ** 31)}`;
  }

  async call<T>(work: (ctx: AppContext) => Promise<T>, daemon = this.options.daemon): Promise<T> {
    const once = async (): Promise<T> => {
      for (let tries = 0; ; tries++) {
        try {
          return await this.world.daemon(daemon).run(({ context }) => work(context));
        } catch (error) {
          if (error instanceof DaemonDied && this.world.driversDieToo) throw new DriverDied();
          if (!isRepeatable(error) || tries > 20) throw error;
          await this.world.pass(Math.min(200 * 2 ** tries, 60_000));
        }
      }
    };
    this.world.activeCalls++;
    try {
      const result = await once();
      return this.options.repeats === true ? await once() : result;
    } finally {
      this.world.activeCalls--;
    }
  }

  setup(): Promise<unknown> {
    const options = { ...plain, ...this.options.options };
    const input = { job: this.ref, setupId: this.setupId, options, description: '', protocolVersion: 1 };
    return this.call((ctx) => setupJob(ctx, input, principal));
  }

  /** The refusal, where there is one. */
  async trySetup(): Promise<CommitterError | undefined> {
    try {
      await this.setup();
      return undefined;
    } catch (error) {
      if (!isCommitterError(error) || error.reason === 'INTERNAL') throw error;
      return error;
    }
  }

  attempt(task: number, number = 0, daemon?: number): TaskAttempt {
    return new TaskAttempt(this, task, number, daemon);
  }

  /** A task from its first byte to its commit. */
  async runTask(task: number, files: readonly string[], number = 0): Promise<TaskAttempt> {
    const attempt = this.attempt(task, number);
    for (const name of files) await attempt.write(name);
    await attempt.commit();
    return attempt;
  }

  /** CommitTask or RecoverTask of it was answered OK. */
  count(attempt: TaskAttempt): void {
    this.committedAttempts.push(attempt);
    if (this.options.isReckless === true && this.hasBegunToCommit)
      this.toldTooLate.add(attempt.ref.attemptId);
  }

  async commit(exact?: readonly TaskAttempt[]): Promise<void> {
    const exactWinners = exact?.map(({ ref }) => ref);
    this.hasBegunToCommit = true;
    if (this.options.options?.taskRecords === 'driver') {
      await this.handOver((exact ?? this.lastAttempts()).map(({ pendingset }) => pendingset));
      return;
    }
    try {
      await this.call((ctx) => commitJob(ctx, { job: this.ref, exactWinners }, principal));
      this.told = 'committed';
    } catch (error) {
      this.fail(error);
    }
  }

  /** With `TASK_RECORDS_DRIVER`. */
  async handOver(pendingsets: readonly Uint8Array[]): Promise<void> {
    this.hasBegunToCommit = true;
    try {
      await this.call(async (ctx) => {
        const input = { job: this.ref, pendingsetCount: pendingsets.length };
        const commit = await CarriedCommit.begin(ctx, input, principal);
        commit.add(pendingsets);
        return commit.commit();
      });
      this.told = 'committed';
    } catch (error) {
      this.fail(error);
    }
  }

  /** Of each task the last attempt that was committed and not given up. */
  private lastAttempts(): TaskAttempt[] {
    const last = new Map<string, TaskAttempt>();
    for (const attempt of this.committedAttempts) {
      const known = last.get(attempt.task);
      const isLater = known === undefined || attempt.number > known.number;
      if (isLater && !this.givenUp.has(attempt.ref.attemptId)) last.set(attempt.task, attempt);
    }
    return [...last.values()];
  }

  async abort(
    scope: 'this-and-earlier' | 'earlier' = 'this-and-earlier',
    daemon?: number,
  ): Promise<boolean | undefined> {
    const input = { job: this.ref, scope, reason: 'FAILED' };
    try {
      const { published } = await this.call((ctx) => abortJob(ctx, input, principal), daemon);
      if (scope === 'this-and-earlier') this.told ??= published ? 'committed' : 'aborted';
      return published;
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  recover(attempt: TaskAttempt, succeeded = true): Promise<void> {
    return this.call((ctx) =>
      recoverTask(ctx, { job: this.ref, attempt: attempt.ref, succeeded }, principal),
    );
  }

  private fail(error: unknown): void {
    if (!isCommitterError(error)) throw error;
    if (error.reason === 'INTERNAL') throw error;
    this.told ??= 'failed';
    this.failure ??= error;
  }
}

/** A file of a task attempt that was uploaded and closed. */
export interface UploadedFile {
  readonly pending: FileRef;
  readonly parts: readonly PartRef[];
}

/** One run of a task. */
export class TaskAttempt {
  readonly ref: AttemptRef;
  readonly task: string;
  readonly closed: UploadedFile[] = [];
  readonly inline: InlineFileRef[] = [];
  readonly names: string[] = [];
  refused: CommitterError | undefined;
  /** What its last commitTask returned, with `TASK_RECORDS_DRIVER`. */
  pendingset: Uint8Array = new Uint8Array();
  /** With `TASK_RECORDS_STORE`. */
  lastClosed: UploadedFile | undefined;

  constructor(
    private readonly driver: Driver,
    task: number,
    readonly number: number,
    private readonly daemon: number | undefined,
  ) {
    this.task = `m-${String(task).padStart(6, '0')}`;
    const { token } = driver.options;
    this.ref = {
      task: this.task,
      attemptNumber: number,
      attemptId: `attempt_${token}_${this.task}_${number}`,
    };
    driver.world.attempts.set(this.ref.attemptId, this);
  }

  isOf(driver: Driver): boolean {
    return this.driver === driver;
  }

  get ofToken(): string {
    return this.driver.options.token;
  }

  async open(name: string): Promise<FileRef> {
    const { driver } = this;
    const uri = `${driver.ref.destination}/${name}`;
    const input = { job: driver.ref, attempt: this.ref, uri, partsToSign: 1, contentType: '' };
    return (await driver.call((ctx) => openFile(ctx, input, principal), this.daemon)).file;
  }

  /**
   * Opens, uploads and closes a file: it is sent after `slowMs`, and lands after `landsAfterMs` whatever becomes of its
   * upload meanwhile; false where the job takes no more. */
  async write(name: string, { slowMs = 0, landsAfterMs = 0 } = {}): Promise<boolean> {
    const { driver } = this;
    try {
      const file = await this.open(name);
      const key = file.uri.slice(`s3://${bucket}/`.length);
      const body = Buffer.from(contentOf(driver.options.token, this.task, this.number, name));
      driver.world.partDelays.set(file.uploadId, landsAfterMs);
      await driver.world.pass(slowMs);
      const part = await driver.world.raw.uploadPart({ bucket, key, uploadId: file.uploadId }, 1, body);
      const closed = { pending: file, parts: [{ partNumber: 1, etag: part.etag, sizeBytes: body.length }] };
      if (driver.options.options?.taskRecords === 'store') await this.close(closed);
      else this.closed.push(closed);
      this.names.push(name);
      return true;
    } catch (error) {
      if (isStoreError(error, 'no-such-upload')) return false;
      if (!isCommitterError(error)) throw error;
      this.refused = error;
      return false;
    }
  }

  /** From a process that commits nothing. */
  async close(file: UploadedFile, daemon = this.daemon): Promise<void> {
    const { driver } = this;
    this.lastClosed = file;
    await driver.call(
      (ctx) => closeFile(ctx, { job: driver.ref, attempt: this.ref, file }, principal),
      daemon,
    );
  }

  /** The parts of its closed files once more, as a client does that waits too long for an answer. */
  async sendAgain({ landsAfterMs }: { readonly landsAfterMs: number }): Promise<void> {
    const { world } = this.driver;
    await Promise.all(
      this.closed.map(async ({ pending: { uri, uploadId } }) => {
        const key = uri.slice(`s3://${bucket}/`.length);
        world.partDelays.set(uploadId, landsAfterMs);
        await world.raw.uploadPart({ bucket, key, uploadId }, 1, Buffer.from('again')).catch(() => undefined);
      }),
    );
  }

  /** A file whose bytes go with commitTask. */
  writeInline(name: string): void {
    const { driver } = this;
    const content = Buffer.from(contentOf(driver.options.token, this.task, this.number, name));
    this.inline.push({ uri: `${driver.ref.destination}/${name}`, content, contentType: '' });
    this.names.push(name);
  }

  /** False where the daemon refused for good. */
  async commit(daemon = this.daemon): Promise<boolean> {
    const { driver } = this;
    this.refused = undefined;
    try {
      const { pendingset } = await driver.call(async (ctx) => {
        const fileCount = this.closed.length + this.inline.length;
        const commit = await TaskCommit.begin(
          ctx,
          { job: driver.ref, attempt: this.ref, fileCount },
          principal,
        );
        commit.add([...this.closed, ...this.inline.map((inline) => ({ inline }))]);
        return commit.commit();
      }, daemon);
      if (pendingset !== undefined) this.pendingset = pendingset;
      driver.count(this);
      return true;
    } catch (error) {
      if (!isCommitterError(error)) throw error;
      this.refused = error;
      return false;
    }
  }

  /** From the process that wrote it, or, with `blind`, from one that knows the ids only. */
  async abort(blind = false): Promise<void> {
    await this.abortFiles(blind ? [] : this.closed.map(({ pending }) => pending));
  }

  async abortFiles(files: readonly FileRef[]): Promise<void> {
    const { driver } = this;
    driver.givenUp.add(this.ref.attemptId);
    try {
      await driver.call(
        (ctx) => abortTask(ctx, { job: driver.ref, attempt: this.ref, files }, principal),
        this.daemon,
      );
    } catch (error) {
      if (!isCommitterError(error, 'JOB_NOT_FOUND')) throw error;
    }
  }
}
