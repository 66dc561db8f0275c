import { randomUUID } from 'node:crypto';
import type { MemoryObjectStore } from '../../../src/adapters/memory/memory-object-store.js';
import type { DaemonClient } from './client.js';
import { bucket, staging } from './memory-daemon.js';
import type * as wire from './wire.js';

let count = 0;

/** A directory that no other test uses. */
export function newDestination(): string {
  return `s3a://${bucket}/tables/t${++count}`;
}

export interface TestJobOptions {
  readonly token?: string;
  readonly tokens?: readonly string[];
  readonly jobAttempt?: number;
  readonly destination?: string;
  readonly setupId?: string;
}

/** One job attempt as a driver and its executors run it, against one daemon. */
export class TestJob {
  readonly tokens: readonly string[];
  readonly jobAttempt: number;
  readonly destination: string;
  readonly setupId: string;

  constructor(
    readonly client: DaemonClient,
    readonly memory: MemoryObjectStore,
    options: TestJobOptions = {},
  ) {
    this.tokens = options.tokens ?? [options.token ?? `job-${randomUUID()}`];
    this.jobAttempt = options.jobAttempt ?? 0;
    this.destination = options.destination ?? newDestination();
    this.setupId = options.setupId ?? randomUUID();
  }

  get token(): string {
    return this.tokens[0]!;
  }

  get ref(): wire.JobRef {
    return { tokens: [...this.tokens], jobAttempt: this.jobAttempt, destination: this.destination };
  }

  /** The same job seen through another daemon, or as another job attempt. */
  through(client: DaemonClient, options: TestJobOptions = {}): TestJob {
    const { tokens, jobAttempt, destination, setupId } = this;
    return new TestJob(client, this.memory, { tokens, jobAttempt, destination, setupId, ...options });
  }

  /** The next run of the application master. */
  nextAttempt(by = 1): TestJob {
    return this.through(this.client, { jobAttempt: this.jobAttempt + by, setupId: randomUUID() });
  }

  setup(options: wire.JobOptions = {}, more: Partial<wire.SetupJobRequest> = {}): Promise<unknown> {
    return this.client.setupJob({
      job: this.ref,
      setupId: this.setupId,
      options,
      protocolVersion: 1,
      ...more,
    });
  }

  attempt(task: number, number = 0, id?: string): TestAttempt {
    return new TestAttempt(this, task, number, id);
  }

  /** Writes files in one attempt and commits it. */
  async runTask(task: number, files: Readonly<Record<string, string>>, number = 0): Promise<TestAttempt> {
    const attempt = this.attempt(task, number);
    for (const [name, content] of Object.entries(files)) await attempt.write(name, content);
    await attempt.commit();
    return attempt;
  }

  commit(exact?: readonly TestAttempt[]): Promise<wire.CommitJobResponse__Output> {
    const exactWinners = exact === undefined ? null : { attempts: exact.map(({ ref }) => ref) };
    return this.client.commitJob({ job: this.ref, exactWinners });
  }

  /** In a job with TASK_RECORDS_DRIVER; a batch for each pendingset. */
  handOver(...pendingsets: readonly Buffer[]): Promise<wire.CommitJobWithPendingsetsResponse__Output> {
    return this.client.commitJobWithPendingsets(
      this.ref,
      pendingsets.map((each) => [each]),
    );
  }

  abort(request: Omit<wire.AbortJobRequest, 'job'> = {}): Promise<wire.AbortJobResponse__Output> {
    return this.client.abortJob({ job: this.ref, ...request });
  }

  recover(attempt: TestAttempt, succeeded = false): Promise<unknown> {
    return this.client.recoverTask({ job: this.ref, attempt: attempt.ref, succeeded });
  }

  /** What a reader of the destination sees: content by file name, the success marker left out. */
  visible(): Record<string, string> {
    const prefix = `${this.destination.replace(`s3a://${bucket}/`, '')}/`;
    const files = this.memory
      .objects(bucket)
      .filter(({ key }) => key.startsWith(prefix) && key !== `${prefix}_SUCCESS`)
      .map(({ key, body }) => [key.slice(prefix.length), Buffer.from(body).toString()] as const);
    return Object.fromEntries(files);
  }

  /** The text of the success marker; `undefined` where there is none. */
  marker(): string | undefined {
    const key = `${this.destination.replace(`s3a://${bucket}/`, '')}/_SUCCESS`;
    const found = this.memory.objects(bucket).find((object) => object.key === key);
    return found === undefined ? undefined : Buffer.from(found.body).toString();
  }

  /** Uploads below the destination that a listing would show. */
  openUploads(): string[] {
    const prefix = `${this.destination.replace(`s3a://${bucket}/`, '')}/`;
    return this.memory
      .uploads(bucket)
      .filter(({ key }) => key.startsWith(prefix))
      .map(({ key }) => key.slice(prefix.length));
  }

  /** Names of what lies under the token in the staging root. */
  staged(): string[] {
    const prefix = `${staging}/${this.token}/`;
    return this.memory
      .objects(bucket)
      .filter(({ key }) => key.startsWith(prefix))
      .map(({ key }) => key.slice(prefix.length));
  }

  /** Task records and ledger segments: what background cleanup removes. */
  recordsLeft(): string[] {
    return this.staged().filter((name) => /^\d+\/(tasks|opened|files|claims)\//.test(name));
  }

  /** A fact of this job attempt as JSON. */
  fact(name: string): Record<string, unknown> | undefined {
    const key = `${staging}/${this.token}/${this.jobAttempt}/${name}`;
    const found = this.memory.objects(bucket).find((object) => object.key === key);
    return found === undefined
      ? undefined
      : (JSON.parse(Buffer.from(found.body).toString()) as Record<string, unknown>);
  }
}

/** One run of a task. */
export class TestAttempt {
  readonly files: wire.ClosedFile[] = [];
  /** Files that were opened and never closed. */
  readonly unfinished: wire.PendingFile[] = [];
  readonly id: string;

  constructor(
    readonly job: TestJob,
    readonly task: number,
    readonly number: number,
    id?: string,
  ) {
    this.id = id ?? `attempt_${randomUUID()}_${task}_${number}`;
  }

  get ref(): wire.TaskAttemptRef {
    const task = `m-${String(this.task).padStart(6, '0')}`;
    return { task, attemptNumber: this.number, attemptId: this.id };
  }

  get header(): wire.CommitTaskHeader {
    return { job: this.job.ref, attempt: this.ref, fileCount: this.files.length };
  }

  /** Everything that its process knows of. */
  get pending(): wire.PendingFile[] {
    return [...this.files.map((file) => file.pending!), ...this.unfinished];
  }

  setup(): Promise<unknown> {
    return this.job.client.setupTask({ job: this.job.ref, attempt: this.ref });
  }

  async open(name: string, partsToSign = 0): Promise<wire.OpenFileResponse__Output> {
    const uri = `${this.job.destination}/${name}`;
    const opened = await this.job.client.openFile({ job: this.job.ref, attempt: this.ref, uri, partsToSign });
    this.unfinished.push(opened.file!);
    return opened;
  }

  /** Opens a file, PUTs its parts to signed URLs, and closes it. */
  async write(name: string, content: string): Promise<wire.ClosedFile> {
    const bytes = Buffer.from(content);
    const { file, signedParts } = await this.open(name, 1);
    const parts: wire.UploadedPart[] = [];
    let at = 0;
    let signed = signedParts[0]!;
    do {
      const body = bytes.subarray(at, at + Number(signed.sizeBytes));
      const { etag } = await this.job.memory.putSigned(signed.url, body);
      parts.push({ partNumber: signed.partNumber, etag, sizeBytes: body.byteLength });
      at += body.byteLength;
      if (at < bytes.length) {
        const request = { job: this.job.ref, attempt: this.ref, file: file!, count: 1 };
        const more = await this.job.client.signParts({ ...request, firstPartNumber: signed.partNumber + 1 });
        signed = more.signedParts[0]!;
      }
    } while (at < bytes.length);
    const closed = { pending: file!, parts };
    this.unfinished.splice(this.unfinished.indexOf(file!), 1);
    this.files.push(closed);
    return closed;
  }

  /** With a batch for each file, so that streams of several messages are the rule. */
  commit(files: readonly wire.ClosedFile[] = this.files): Promise<wire.CommitTaskResponse__Output> {
    return this.job.client.commitTask(this.header, ...files.map((file) => [file]));
  }

  abort(files: readonly wire.PendingFile[] = this.pending): Promise<unknown> {
    return this.job.client.abortTask({ job: this.job.ref, attempt: this.ref, files: [...files] });
  }

  /** From a process that commits nothing, in a job with TASK_RECORDS_STORE. */
  closeFile(file: wire.ClosedFile): Promise<unknown> {
    return this.job.client.closeFile({ job: this.job.ref, attempt: this.ref, file });
  }

  abortFile(file: wire.PendingFile): Promise<unknown> {
    return this.job.client.abortFile({ job: this.job.ref, attempt: this.ref, file });
  }
}
