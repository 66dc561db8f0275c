import type { UploadIdentity } from '../core/records/attempt-record.js';
import { uploadName } from '../core/abort-rule.js';
import type { Clock, Random } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import { nameOfJob, type Job } from './job-directory.js';

/** An upload as the ledger remembers it. */
export interface LedgerUpload {
  readonly upload: UploadIdentity;
  /** Digest of the pendingset that went to the driver with it: no record in the store holds it. */
  handedOverIn?: string;
}

interface OpenUpload extends LedgerUpload {
  readonly openedAt: number;
  /** A segment in the store holds it. */
  written: boolean;
}

interface JobLedger {
  readonly job: Job;
  readonly open: Map<string, OpenUpload>;
  /** Keys of the segments that were written for it. */
  readonly segments: string[];
  /** When {@link EndedJobSweep} was last asked, on the monotonic clock. */
  askedAt: number;
}

/** An upload may stay open for hours; its job's end is looked for less often than new uploads come. */
const maxAskIntervalMs = 10_000;

const maxLastFlushes = 3;

/** Ended jobs that are remembered; what is forgotten is found out anew at the next flush. */
const maxEnded = 10_000;

/**
 * What the ledger asks of the protocol: whether a job is decided or has ended, and to clear what an ended one left open,
 * with the segments that name it.
 */
export type EndedJobSweep = (
  job: Job,
  open: readonly LedgerUpload[],
  segments: readonly string[],
) => Promise<'undecided' | 'running' | 'ended'>;

/**
 * Remembers the uploads that this daemon opened and that no record holds yet, and writes them down within a second
 * or so, so that whoever ends the job can abort those of a process that died. An upload that is committed or
 * aborted sooner costs nothing. Segments are only ever added.
 */
export class Ledger {
  readonly #jobs = new Map<string, JobLedger>();
  readonly #ended = new Set<string>();
  readonly #start: string;
  readonly #stop = new AbortController();
  #sequence = 0;
  #loop: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    random: Random,
    private readonly logger: Logger,
    private readonly intervalMs: number,
    private readonly sweep: EndedJobSweep,
  ) {
    this.#start = Buffer.from(random.bytes(8)).toString('hex');
  }

  /** True once a flush has seen that the job has ended: it takes no more files. */
  hasEnded(job: Job): boolean {
    return this.#ended.has(nameOfJob(job));
  }

  add(job: Job, upload: UploadIdentity): void {
    const name = nameOfJob(job);
    let ledger = this.#jobs.get(name);
    if (ledger === undefined)
      this.#jobs.set(name, (ledger = { job, open: new Map(), segments: [], askedAt: -Infinity }));
    ledger.open.set(uploadName(upload), { upload, openedAt: this.clock.monotonicMs(), written: false });
    this.#loop ??= this.#run().finally(() => (this.#loop = undefined));
  }

  /** A record holds them, or they are aborted. */
  remove(job: Job, uploads: readonly UploadIdentity[]): void {
    const name = nameOfJob(job);
    const ledger = this.#jobs.get(name);
    if (ledger === undefined) return;
    for (const upload of uploads) ledger.open.delete(uploadName(upload));
    if (ledger.open.size === 0) this.#jobs.delete(name);
  }

  /** They are in a pendingset that the driver has to hand over: until then only the ledger knows them. */
  handOver(job: Job, uploads: readonly UploadIdentity[], digest: string): void {
    const open = this.#jobs.get(nameOfJob(job))?.open;
    for (const upload of uploads) {
      const found = open?.get(uploadName(upload));
      if (found !== undefined) found.handedOverIn = digest;
    }
  }

  /** Writes down what is left and stops. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    // No later flush makes good for one that fails now.
    for (let tries = 1; !(await this.#flush(0)) && tries < maxLastFlushes; tries++);
  }

  async #run(): Promise<void> {
    while (this.#jobs.size > 0 && !this.#stop.signal.aborted) {
      try {
        await this.clock.sleep(this.intervalMs, this.#stop.signal);
      } catch {
        return;
      }
      await this.#flush(this.intervalMs);
    }
  }

  /** @returns false where a segment could not be written. */
  async #flush(minAgeMs: number): Promise<boolean> {
    let isWritten = true;
    for (const [name, ledger] of this.#jobs) {
      try {
        await this.#flushJob(ledger, minAgeMs);
        if (ledger.open.size === 0) this.#jobs.delete(name);
      } catch (error) {
        this.logger.warn('ledger segment not written', { job: ledger.job.token, error });
        isWritten = false;
      }
    }
    return isWritten;
  }

  async #flushJob(ledger: JobLedger, minAgeMs: number): Promise<void> {
    const now = this.clock.monotonicMs();
    const oldest = now - minAgeMs;
    const due = [...ledger.open.values()].filter((open) => open.openedAt <= oldest);
    if (due.length === 0) return;
    const fresh = due.filter((open) => !open.written);
    if (fresh.length > 0) {
      const uploads = fresh.map(({ upload }) => upload);
      ledger.segments.push(await ledger.job.facts.writeLedgerSegment(this.#start, this.#sequence++, uploads));
      for (const open of fresh) open.written = true;
    }
    if (fresh.length === 0 && now - ledger.askedAt < maxAskIntervalMs) return;
    ledger.askedAt = now;
    const state = await this.sweep(ledger.job, due, ledger.segments);
    if (state === 'ended') this.#rememberEnd(nameOfJob(ledger.job));
    // A segment that was there before any decision is found by whoever ends the job: it takes no more care.
    const isSettled = ({ handedOverIn }: OpenUpload): boolean =>
      state === 'ended' || (state === 'undecided' && handedOverIn !== undefined);
    const settled = due.filter(isSettled);
    for (const { upload } of settled) ledger.open.delete(uploadName(upload));
    // It is theirs to remove, too: it names uploads that are no longer known here.
    if (settled.length > 0) ledger.segments.length = 0;
  }

  #rememberEnd(name: string): void {
    if (this.#ended.size >= maxEnded) this.#ended.clear();
    this.#ended.add(name);
  }
}
