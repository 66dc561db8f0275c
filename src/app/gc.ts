import { CommitterError, isCommitterError } from '../core/errors.js';
import type { JobToken } from '../core/ids.js';
import { isWithin, joinKey, parseUri, type StoreUri } from '../core/uri.js';
import type { ListedObject } from '../ports/object-store.js';
import type { AppContext } from './context.js';
import { storeNowMs } from './gc-clock.js';
import { collectFacts, noLateRecords, processLateRecords, type LateRecords } from './gc-collect.js';
import { endAbandoned, endingOf, type Ending } from './gc-end-abandoned.js';
import { stagedJobs, type StagedJob } from './gc-staged-jobs.js';
import { readStates, type DecidingState } from './gc-states.js';
import { factsOf } from './job-directory.js';
import { mapLimit } from './map-limit.js';
import type { Root } from './roots.js';
import { stagingRoots } from './staging-roots.js';
import { abortOpenUploads, type AbortedUploads } from './uploads.js';

export interface GcOptions {
  /** A job that has not ended is abandoned when nothing of it is newer. Negative: every job, for tests. */
  readonly olderThanMs: number;
  /** The facts of an ended job go when nothing of it is newer. */
  readonly ttlMs: number;
  /** Changes nothing, but for the probe that asks for the store's time. */
  readonly dryRun: boolean;
  /**
   * Only jobs whose destination lies under this URI, and besides them every open upload there that is older than
   * `olderThanMs`: those that no ledger saw, or other software's. The user names them by prefix and age.
   */
  readonly prefix?: string;
}

/** What was done about a job, or would be. */
export interface GcJob {
  readonly token: JobToken;
  readonly staging: string;
  readonly destination: string;
  readonly jobAttempts: readonly number[];
  /** Before. */
  readonly state: string;
  /** It was abandoned. */
  readonly ending?: Ending;
  readonly late?: LateRecords;
  /** Objects of its state that were removed: its time was over. */
  readonly collected?: number;
  /** Why it could not be dealt with. Other jobs are. */
  readonly problem?: string;
}

export interface GcReport {
  readonly dryRun: boolean;
  /** Tokens in the staging roots. */
  readonly seen: number;
  /** Only those that there was something to do about. */
  readonly jobs: readonly GcJob[];
  /** With a prefix. */
  readonly uploads?: AbortedUploads;
  /** Why the uploads under the prefix were not looked at. */
  readonly uploadsProblem?: string;
}

/** Jobs under way at once; each may read many records. */
const jobConcurrency = 8;

/**
 * Ends abandoned jobs, processes what came too late for the end of others, and forgets those that ended long ago. Any
 * number may run at once, beside running jobs: everything that matters is decided by the one-shot facts, as it is
 * between daemons.
 */
export async function collectGarbage(ctx: AppContext, options: GcOptions): Promise<GcReport> {
  const prefix = options.prefix === undefined ? undefined : parseUri(options.prefix, '--prefix');
  const jobs: GcJob[] = [];
  let seen = 0;
  for (const root of stagingRoots(ctx.roots.all)) {
    const nowMs = await storeNowMs(ctx, root);
    const run = new StagingRun(ctx, root, nowMs, options, prefix);
    const probes: ListedObject[] = [];
    await mapLimit(
      stagedJobs(root, (probe) => probes.push(probe)),
      jobConcurrency,
      async (staged) => {
        seen++;
        const job = await run.tend(staged);
        if (job !== undefined) jobs.push(job);
      },
    );
    await run.removeProbes(probes);
  }
  jobs.sort((a, b) => (a.token < b.token ? -1 : 1));
  return { dryRun: options.dryRun, seen, jobs, ...(await abortOrphans(ctx, options)) };
}

/** After the jobs, so that what they name is aborted with them and not spared. */
async function abortOrphans(
  ctx: AppContext,
  { prefix, olderThanMs, dryRun }: GcOptions,
): Promise<Pick<GcReport, 'uploads' | 'uploadsProblem'>> {
  if (prefix === undefined) return {};
  try {
    return { uploads: await abortOpenUploads(ctx, { prefix, olderThanMs }, dryRun) };
  } catch (error) {
    if (!isCommitterError(error, 'UNSUPPORTED', 'RECORD_UNREADABLE', 'OUTSIDE_ROOTS')) throw error;
    return { uploadsProblem: error.message };
  }
}

/** One pass over one staging root. */
class StagingRun {
  constructor(
    private readonly ctx: AppContext,
    private readonly root: Root,
    private readonly nowMs: number,
    private readonly options: GcOptions,
    private readonly prefix: StoreUri | undefined,
  ) {}

  async tend(staged: StagedJob): Promise<GcJob | undefined> {
    const { root, options } = this;
    const isOld = staged.newestMs <= this.nowMs - options.olderThanMs;
    const isExpired = staged.newestMs <= this.nowMs - options.ttlMs;
    // Running, or ended not long ago and clean: nothing is asked about it.
    if (!isOld && !isExpired && !staged.hasRecords) return undefined;
    const { token, jobAttempts } = staged;
    const base = { token, jobAttempts, staging: joinKey(root.staging.bucket, root.staging.key) };
    let destination = '';
    try {
      destination = await this.#destination(staged);
      if (this.prefix !== undefined && !isUnder(this.prefix, destination)) return undefined;
      const job = await this.#tend(staged, isOld, isExpired);
      return job === undefined ? undefined : { ...base, destination, ...job };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.ctx.logger.warn('gc could not deal with a job', { job: token, error });
      const reason = error instanceof CommitterError ? ` (${error.reason})` : '';
      return { ...base, destination, state: 'unknown', problem: `${error.message}${reason}` };
    }
  }

  async #tend(
    { token, jobAttempts, hasRecords }: StagedJob,
    isOld: boolean,
    isExpired: boolean,
  ): Promise<Omit<GcJob, 'token' | 'staging' | 'destination' | 'jobAttempts'> | undefined> {
    const { ctx, root, options } = this;
    let states = await readStates(root, token, jobAttempts);
    const state = lastOf(states)?.state.state ?? 'undecided';
    let ending: Ending | undefined;
    if (isOld) {
      ending = await this.#endAll(token, states);
      if (options.dryRun) states = asIfAborted(states);
      else if (ending !== undefined) states = await readStates(root, token, jobAttempts);
    }
    // An ended job's calls may have left records that the listing was too early for.
    const late =
      hasRecords || ending !== undefined
        ? await processLateRecords(ctx, root, token, states, options.dryRun)
        : noLateRecords;
    const collected = isExpired
      ? await collectFacts(root, token, this.nowMs - options.ttlMs, options.dryRun)
      : 0;
    const hasLate = late.records + late.ledgerSegments + late.closedFiles + late.claims > 0;
    if (ending === undefined && !hasLate && collected === 0) return undefined;
    ctx.logger.info('gc', { job: token, state, ending, ...late, collected, dry_run: options.dryRun });
    return {
      state,
      ...(ending === undefined ? {} : { ending }),
      ...(hasLate ? { late } : {}),
      ...(collected === 0 ? {} : { collected }),
    };
  }

  /** Each deciding attempt, the highest first, as AbortJob does it. */
  async #endAll(token: JobToken, states: ReadonlyMap<number, DecidingState>): Promise<Ending | undefined> {
    let ending: Ending | undefined;
    const open = [...new Set(states.values())].filter(({ isOver }) => !isOver);
    for (const deciding of open.sort((a, b) => b.deciding - a.deciding)) {
      const done = this.options.dryRun
        ? endingOf(deciding.state)
        : await endAbandoned(this.ctx, this.root, token, deciding, 'abandoned: ended by commitbridge gc');
      ending ??= done;
    }
    return ending;
  }

  /** The last one that any of its attempts named; `''` where none was set up. */
  async #destination({ token, jobAttempts }: StagedJob): Promise<string> {
    for (const jobAttempt of [...jobAttempts].reverse()) {
      const job = await factsOf(this.root, token, jobAttempt).readJob();
      if (job !== undefined) return job.destination;
    }
    return '';
  }

  /** What a gc left that was killed; a young one may be of a gc that runs. */
  async removeProbes(probes: readonly ListedObject[]): Promise<void> {
    if (this.options.dryRun) return;
    const { store, staging } = this.root;
    for (const { key, lastModifiedMs } of probes) {
      if (lastModifiedMs <= this.nowMs - probeLifeMs) await store.delete({ bucket: staging.bucket, key }, {});
    }
  }
}

const probeLifeMs = 3_600_000;

function isUnder(prefix: StoreUri, destination: string): boolean {
  return destination !== '' && isWithin(prefix, parseUri(destination, 'destination'));
}

/** So that a dry run counts what an abort would free. */
function asIfAborted(states: ReadonlyMap<number, DecidingState>): ReadonlyMap<number, DecidingState> {
  return new Map(
    [...states].map(([jobAttempt, known]) => [
      jobAttempt,
      known.state.state === 'undecided' ? { ...known, isOver: true } : known,
    ]),
  );
}

function lastOf(states: ReadonlyMap<number, DecidingState>): DecidingState | undefined {
  return [...states.values()].at(-1);
}
