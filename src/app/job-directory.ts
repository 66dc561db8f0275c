import { CommitterError } from '../core/errors.js';
import { parseJobAttempt, parseToken, type JobToken } from '../core/ids.js';
import { hasEnded, jobState } from '../core/job-state.js';
import { unreadable } from '../core/records/codec.js';
import type { JobRecord } from '../core/records/job-record.js';
import { JobLayout, parseJobAttempts, tokenPrefix } from '../core/staging-layout.js';
import { formatUri, parseUri, type StoreUri } from '../core/uri.js';
import { utf8Length } from '../core/utf8.js';
import type { Clock } from '../ports/clock.js';
import { JobFacts } from './facts.js';
import { JoinedCalls } from './joined-calls.js';
import { listPrefixes } from './list-all.js';
import type { Root, Roots } from './roots.js';

/** How a caller names a job. */
export interface JobRef {
  readonly tokens: readonly string[];
  readonly jobAttempt: number;
  readonly destination: string;
}

/** A {@link JobRef} whose fields are well formed and whose root is open to the caller. */
export interface JobAddress {
  readonly tokens: readonly JobToken[];
  readonly jobAttempt: number;
  readonly destination: StoreUri;
  readonly root: Root;
}

/** A job attempt that was set up. */
export interface Job {
  readonly root: Root;
  readonly destination: StoreUri;
  readonly token: JobToken;
  readonly jobAttempt: number;
  readonly record: JobRecord;
  readonly hmacKey: Uint8Array;
  readonly facts: JobFacts;
}

const maxTokens = 8;
const maxDestinationBytes = 1_024;

/** What is kept of jobs: a job.json may be as large as the message that it came in. */
const cacheLimits = { jobs: 20_000, bytes: 64 * 1024 * 1024 };
/** A token may be another job's once gc has collected the first; far less than the age from which it does. */
const keptMs = 10 * 60 * 1_000;
/** Of objects around the texts, roughly. */
const bytesAround = 1_000;

/**
 * Finds jobs by what their callers know. job.json is immutable, so it is kept; whether a job was decided or has
 * ended never is.
 */
export class JobDirectory {
  readonly #jobs = new Map<string, Kept>();
  readonly #joined = new JoinedCalls();
  #bytes = 0;

  constructor(
    private readonly roots: Roots,
    private readonly clock: Clock,
    private readonly limits: { readonly jobs: number; readonly bytes: number } = cacheLimits,
  ) {}

  /** @throws CommitterError INVALID_FIELD, OUTSIDE_ROOTS, PRINCIPAL_NOT_ALLOWED */
  address(ref: JobRef, principal: string): JobAddress {
    if (ref.tokens.length === 0 || ref.tokens.length > maxTokens) {
      throw new CommitterError(
        'INVALID_FIELD',
        `job.tokens must name 1 to ${maxTokens} tokens; got ${ref.tokens.length}`,
      );
    }
    const destination = parseUri(ref.destination, 'job.destination');
    if (utf8Length(ref.destination) > maxDestinationBytes) {
      throw new CommitterError(
        'INVALID_FIELD',
        `job.destination has ${utf8Length(ref.destination)} bytes of UTF-8; ${maxDestinationBytes} are allowed`,
      );
    }
    return {
      tokens: ref.tokens.map((token) => parseToken(token)),
      jobAttempt: parseJobAttempt(ref.jobAttempt),
      destination,
      root: this.roots.resolve(destination, principal),
    };
  }

  /**
   * The first job of the named tokens that is set up and has not ended; where all that are set up have ended, the
   * first of those, so that a late call is answered as it was before.
   *
   * @throws CommitterError JOB_NOT_FOUND where none is set up under this destination.
   */
  async find(ref: JobRef, principal: string): Promise<Job> {
    const address = this.address(ref, principal);
    const name = nameOf(address);
    const job = this.#kept(name) ?? (await this.#joined.run(name, () => this.#lookUp(address)));
    refuseOtherPrincipal(job.record, principal);
    return job;
  }

  /** SetupJob has just written it: what was found by a list of names with this one may be another job's no longer. */
  remember(address: JobAddress, job: Job): void {
    for (const [name, { tokens }] of this.#jobs) {
      if (tokens.length > 1 && tokens.includes(job.token)) this.#drop(name);
    }
    this.#keep(address, job);
  }

  /** It has ended: a caller with several names may mean another one by now. */
  forget(job: Job): void {
    for (const [name, kept] of this.#jobs) {
      if (kept.tokens.length > 1 && kept.job.facts.layout.prefix === job.facts.layout.prefix)
        this.#drop(name);
    }
  }

  /** The job of one token and number, from the store. */
  async read(root: Root, token: JobToken, jobAttempt: number): Promise<Job | undefined> {
    const facts = factsOf(root, token, jobAttempt);
    const record = await facts.readJob();
    if (record === undefined) return undefined;
    if (record.token !== token || record.jobAttempt !== jobAttempt) {
      throw unreadable(facts.layout.job, `it says that it is of job ${record.token}, ${record.jobAttempt}`);
    }
    return {
      root,
      destination: destinationOf(facts, record),
      token,
      jobAttempt,
      record,
      hmacKey: Buffer.from(record.hmacKey, 'base64'),
      facts,
    };
  }

  async #lookUp(address: JobAddress): Promise<Job> {
    let ended: Job | undefined;
    for (const [index, token] of address.tokens.entries()) {
      const job = await this.read(address.root, token, address.jobAttempt);
      if (job?.record.destination !== formatUri(address.destination)) continue;
      const isLast = index === address.tokens.length - 1;
      if ((isLast && ended === undefined) || !(await jobHasEnded(job))) {
        this.#keep(address, job);
        return job;
      }
      ended ??= job;
    }
    if (ended !== undefined) return ended;
    throw new CommitterError(
      'JOB_NOT_FOUND',
      `no job was set up for ${formatUri(address.destination)} under ${address.tokens.join(', ')}, job attempt ${address.jobAttempt}: was setupJob called, with the same commitbridge.job.token and the same daemon configuration?`,
    );
  }

  #kept(name: string): Job | undefined {
    const kept = this.#jobs.get(name);
    return kept !== undefined && this.clock.monotonicMs() - kept.readAtMs < keptMs ? kept.job : undefined;
  }

  #keep(address: JobAddress, job: Job): void {
    const name = nameOf(address);
    this.#drop(name);
    const bytes = bytesAround + 2 * name.length + JSON.stringify(job.record).length;
    this.#jobs.set(name, { tokens: address.tokens, job, bytes, readAtMs: this.clock.monotonicMs() });
    this.#bytes += bytes;
    for (const oldest of this.#jobs.keys()) {
      if (this.#jobs.size <= this.limits.jobs && this.#bytes <= this.limits.bytes) return;
      if (oldest !== name) this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    this.#bytes -= this.#jobs.get(name)?.bytes ?? 0;
    this.#jobs.delete(name);
  }
}

interface Kept {
  readonly tokens: readonly JobToken[];
  readonly job: Job;
  readonly bytes: number;
  readonly readAtMs: number;
}

function destinationOf({ layout }: JobFacts, { destination }: JobRecord): StoreUri {
  try {
    return parseUri(destination, 'destination');
  } catch (cause) {
    throw unreadable(layout.job, 'its destination is no URI', cause);
  }
}

export function factsOf(root: Root, token: JobToken, jobAttempt: number): JobFacts {
  return new JobFacts(root.store, root.staging.bucket, new JobLayout(root.staging.key, token, jobAttempt));
}

/**
 * A job belongs to the principal that set it up, with all its job attempts up to the named one.
 *
 * @throws CommitterError PRINCIPAL_NOT_ALLOWED
 */
export async function refuseOthersJob(
  root: Root,
  token: JobToken,
  upTo: number,
  caller: { readonly principal: string; readonly destination?: string },
  known?: readonly number[],
): Promise<void> {
  const attempts = known ?? (await listAttempts(root, token));
  for (const number of attempts.filter((jobAttempt) => jobAttempt <= upTo)) {
    const record = await factsOf(root, token, number).readJob();
    if (record === undefined) continue;
    refuseOtherPrincipal(record, caller.principal);
    if (caller.destination !== undefined && record.destination !== caller.destination) {
      throw new CommitterError(
        'JOB_EXISTS',
        `job ${token} was set up for ${record.destination}, not for ${caller.destination}: use another commitbridge.job.token`,
      );
    }
  }
}

/** One name for one job attempt: two stores may have buckets of one name. */
export function nameOfJob({ root, facts }: Job): string {
  return `${root.storeName} ${facts.bucket}/${facts.layout.prefix}`;
}

/** The numbers of the job attempts that left anything in the staging root. */
export async function listAttempts({ store, staging }: Root, token: JobToken): Promise<number[]> {
  const prefix = tokenPrefix(staging.key, token);
  return parseJobAttempts(prefix, await listPrefixes(store, staging.bucket, prefix));
}

export function refuseOtherPrincipal(record: JobRecord, principal: string): void {
  if (record.principal === principal) return;
  throw new CommitterError(
    'PRINCIPAL_NOT_ALLOWED',
    `job ${record.token} was set up by another principal than ${principal}`,
  );
}

async function jobHasEnded(job: Job): Promise<boolean> {
  const decision = await job.facts.readDecision();
  if (decision === undefined) return false;
  const outcome = decision.decision === 'commit' ? await job.facts.readOutcome() : undefined;
  return hasEnded(jobState(decision, outcome?.value));
}

function nameOf({ tokens, jobAttempt, destination }: JobAddress): string {
  return `${tokens.join(',')} ${jobAttempt} ${formatUri(destination)}`;
}
