import { CommitterError } from '../core/errors.js';
import { uploadName } from '../core/abort-rule.js';
import type { TaskAttempt } from '../core/ids.js';
import { hasEnded } from '../core/job-state.js';
import { sha256Hex } from '../core/canonical-json.js';
import { signHandle } from '../core/handle.js';
import {
  pendingSetDigest,
  uriOf,
  type AttemptRecord,
  type InlineFile,
  type PendingFile,
  type PendingSet,
} from '../core/records/attempt-record.js';
import type { Plan } from '../core/records/plan.js';
import { formatUri, quote } from '../core/uri.js';
import { compareUtf8 } from '../core/utf8.js';
import { refuseDuplicateKeys } from '../core/key-clash.js';
import { parseAttempt, type AttemptRef } from './attempt-ref.js';
import type { AppContext } from './context.js';
import { decidingAttempt, readState } from './deciding.js';
import { discardRecord } from './discard-record.js';
import { readClosedFilesOf } from './closed-files.js';
import { checkContentType, parseFileUri } from './file-ref.js';
import { byteCount, fileCount } from './files-of.js';
import { inlineLimits } from './inline-limits.js';
import { factsOf, type Job, type JobRef } from './job-directory.js';
import { parseClosedFile, type UploadedFileRef } from './parse-closed-file.js';
import { refuseUsedToken } from './refuse-used-token.js';
import { sealForDriver } from './seal-for-driver.js';

/** A closed file: its upload, or its bytes. */
export type ClosedFileRef = UploadedFileRef | { readonly inline: InlineFileRef };

export interface InlineFileRef {
  readonly uri: string;
  readonly content: Uint8Array;
  readonly contentType: string;
}

export interface CommitTaskResult {
  readonly files: number;
  readonly bytes: number;
  /** With `TASK_RECORDS_DRIVER`: what the driver has to hand over. Nothing was written. */
  readonly pendingset?: Uint8Array;
}

/** What one record is made for. */
const maxFiles = 100_000;

/** One CommitTask: files are added in batches, each validated at once, and nothing is written before {@link commit}. */
export class TaskCommit {
  readonly #files: PendingFile[] = [];
  readonly #inline: InlineFile[] = [];
  #inlineBytes = 0;

  private constructor(
    private readonly ctx: AppContext,
    private readonly job: Job,
    private readonly attempt: TaskAttempt,
    private readonly fileCount: number,
  ) {}

  static async begin(
    ctx: AppContext,
    input: { readonly job: JobRef; readonly attempt: AttemptRef; readonly fileCount: number },
    principal: string,
  ): Promise<TaskCommit> {
    const attempt = parseAttempt(input.attempt);
    const { fileCount } = input;
    if (!Number.isSafeInteger(fileCount) || fileCount < 0) {
      throw new CommitterError(
        'INVALID_FIELD',
        `file_count must be a whole number, 0 at least; got ${fileCount}`,
      );
    }
    refuseTooMany(fileCount);
    return new TaskCommit(ctx, await ctx.jobs.find(input.job, principal), attempt, fileCount);
  }

  /** @throws CommitterError INVALID_FIELD, INVALID_PARTS, PATH_OUTSIDE_DESTINATION, KEY_TOO_LONG, FORGED_HANDLE */
  add(files: readonly ClosedFileRef[]): void {
    for (const file of files) {
      if (file.inline === undefined)
        this.#files.push(parseClosedFile(this.ctx, this.job, this.attempt, file));
      else this.#inline.push(this.#validateInline(file.inline));
    }
    if (this.#received > this.fileCount) this.#refuseCount();
  }

  async commit(): Promise<CommitTaskResult> {
    if (this.#received !== this.fileCount) this.#refuseCount();
    if (this.job.record.options.taskRecords === 'store') await this.#takeClosedFiles();
    refuseDuplicateKeys([...this.#files, ...this.#inline]);
    const set: PendingSet = {
      kind: 'pendingset',
      token: this.job.token,
      attempt: this.attempt,
      root: formatUri(this.job.root.uri),
      // In one order: a replay that names them in another one means the same.
      files: this.#files.sort((a, b) => compareUtf8(uploadName(a), uploadName(b))),
      inline: this.#inline.sort((a, b) => compareUtf8(uriOf(a), uriOf(b))),
    };
    if (this.job.record.options.taskRecords === 'driver') return this.#handOver(set);
    const created = await this.job.facts.createRecord(set);
    if (created.status === 'exists') refuseOtherRecord(created.value, this.attempt);
    this.ctx.ledger.remove(this.job, this.#files);
    await this.#askDecision(set);
    return { files: fileCount(set), bytes: byteCount(set) };
  }

  /**
   * Asks the store for nothing: the claim that the commit makes of it takes the record's place. The ledger keeps the
   * uploads, for whoever ends the job without one.
   */
  async #handOver(set: PendingSet): Promise<CommitTaskResult> {
    const { ctx, job } = this;
    if (ctx.ledger.hasEnded(job)) refuseUsedToken(job.token, await readState(job.facts));
    const pendingset = sealForDriver(ctx, job, set);
    ctx.ledger.handOver(job, set.files, pendingSetDigest(set));
    return { files: fileCount(set), bytes: byteCount(set), pendingset };
  }

  /** What UploadService.CloseFile recorded for this attempt; a file may have been handed over besides. */
  async #takeClosedFiles(): Promise<void> {
    const named = new Set(this.#files.map(uploadName));
    const closed = await readClosedFilesOf(this.ctx, this.job, this.attempt);
    this.#files.push(...closed.map(({ file }) => file).filter((file) => !named.has(uploadName(file))));
    refuseTooMany(this.#received);
  }

  get #received(): number {
    return this.#files.length + this.#inline.length;
  }

  /** A stream that its client cancelled can look like one that it ended: the count tells them apart. */
  #refuseCount(): never {
    throw new CommitterError(
      'INVALID_FIELD',
      `file_count says ${this.fileCount} files, ${this.#received} came: nothing was committed`,
    );
  }

  /** After the record, so that a decision that did not see the record is seen here. */
  async #askDecision(set: PendingSet): Promise<void> {
    const { job } = this;
    const own = await job.facts.readDecision();
    switch (own?.decision) {
      case 'superseded':
        // Its successor may recover the record, so it stays until that one's job has ended.
        await this.#discardIfEnded(set, await decidingAttempt(job.root, job.token, own.by));
        throw new CommitterError('JOB_SUPERSEDED', `job ${job.token}: job attempt ${own.by} has taken over`);
      case 'abort':
        await discardRecord(this.ctx, job, set);
        this.ctx.jobs.forget(job);
        throw new CommitterError('JOB_ABORTED', `job ${job.token} was aborted: ${own.reason}`);
      case 'commit':
        if (await this.#isListed(job.jobAttempt, own.plan)) {
          // A replay after cleanup has made the record anew.
          await this.#discardIfEnded(set, job.jobAttempt);
          return;
        }
        await discardRecord(this.ctx, job, set);
        this.ctx.jobs.forget(job);
        throw new CommitterError(
          'JOB_COMMITTED',
          `job ${job.token} was committed without task attempt ${this.attempt.id}; its output is not published`,
        );
      case undefined:
        // Where a lower attempt's commit was adopted, reruns must not fail the job: the record goes as a loser's.
        if (job.record.adopts !== undefined) await this.#discardIfEnded(set, job.record.adopts);
        return;
    }
  }

  /** Whoever ended the job has looked for losers before this record was there. */
  async #discardIfEnded(set: PendingSet, decidingAttempt: number): Promise<void> {
    const { root, token } = this.job;
    if (!hasEnded(await readState(factsOf(root, token, decidingAttempt)))) return;
    await discardRecord(this.ctx, this.job, set);
  }

  async #isListed(jobAttempt: number, planHash: string): Promise<boolean> {
    const facts = factsOf(this.job.root, this.job.token, jobAttempt);
    const plan = await facts.readPlan(planHash);
    if (plan === undefined) {
      throw new CommitterError('JOB_COMMITTED', `job ${this.job.token} has ended and its plan was collected`);
    }
    return isListed(plan, this.attempt);
  }

  #validateInline({ uri: text, content, contentType }: InlineFileRef): InlineFile {
    const { uri } = parseFileUri(this.ctx.roots, this.job, text);
    checkContentType(contentType);
    const { capabilities } = this.ctx.roots.storeOf(uri);
    const { maxInlineBytes, maxInlineBytesPerAttempt } = inlineLimits(this.ctx, capabilities);
    this.#inlineBytes += content.length;
    if (content.length > maxInlineBytes || this.#inlineBytes > maxInlineBytesPerAttempt) {
      throw new CommitterError(
        'LIMIT_EXCEEDED',
        `${quote(text)} has ${content.length} inline bytes and the attempt ${this.#inlineBytes}; ${maxInlineBytes} and ${maxInlineBytesPerAttempt} are taken: upload it, or see commitbridge.inline-limit and upload.inlineLimit`,
      );
    }
    const sha256 = sha256Hex(content);
    // The same for a replay, unlike that of any other attempt, and nobody else's to make.
    const commitbridgeId = signHandle(this.job.hmacKey, {
      token: this.job.token,
      jobAttempt: this.job.jobAttempt,
      attempt: this.attempt,
      ...uri,
      uploadId: 'inline',
      commitbridgeId: sha256,
    });
    return {
      ...uri,
      commitbridgeId: Buffer.from(commitbridgeId.subarray(0, 16)).toString('hex'),
      lengthBytes: content.length,
      contentType,
      sha256,
      content,
    };
  }
}

function refuseTooMany(files: number): void {
  if (files <= maxFiles) return;
  throw new CommitterError('LIMIT_EXCEEDED', `a task attempt has at most ${maxFiles} files; got ${files}`);
}

export function isListed(plan: Plan, attempt: TaskAttempt): boolean {
  return plan.winners.some(
    ({ attempt: winner }) =>
      winner.task === attempt.task && winner.number === attempt.number && winner.id === attempt.id,
  );
}

function refuseOtherRecord(existing: AttemptRecord, attempt: TaskAttempt): never {
  if (existing.kind === 'tombstone' && existing.attempt.id === attempt.id) {
    throw new CommitterError(
      'ATTEMPT_ABORTED',
      `task attempt ${attempt.id} was aborted before; it cannot be committed`,
    );
  }
  const how =
    existing.attempt.id === attempt.id ? 'with other files' : `by task attempt ${existing.attempt.id}`;
  throw new CommitterError(
    'ATTEMPT_EXISTS',
    `number ${attempt.number} of task ${attempt.task} was committed ${how} already`,
  );
}
