import type { GcOptions, GcReport } from '../app/gc.js';
import type { AbortedUploads, OpenUpload, UploadsQuery } from '../app/uploads.js';
import type { CommitterError } from '../core/errors.js';
import type { Config } from '../config/config.js';
import type { Clock, Random } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { ObjectStore } from '../ports/object-store.js';
import type { RefusalStatus } from '../rpc/server/interceptor.js';
import type { GrpcService } from '../rpc/server/server.js';

/** What the composition root hands to the commands. */
export interface App {
  readonly services: readonly GrpcService[];
  readonly jobs: JobsAdmin;
  readonly cleanup: CleanupAdmin;
  /** Decorated, by their names in the configuration. */
  readonly stores: ReadonlyMap<string, ObjectStore>;
  readonly clock: Clock;
  readonly random: Random;
  readonly statusOf: (error: CommitterError) => RefusalStatus;
  /** Ends background work, flushes ledgers, closes stores. No call may be running. */
  close(): Promise<void>;
}

/** Must not call a store or make a timer by itself: `check` and `jobs` build an app too. */
export type BuildApp = (deps: {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
}) => Promise<App>;

/** Jobs as an operator sees them, over all roots. Throws `CommitterError`s. */
export interface JobsAdmin {
  list(): Promise<readonly JobView[]>;
  /** `undefined` where no root has a job of that token. */
  show(token: string): Promise<JobView | undefined>;
  /** Rolls the job forward, as CommitJob does. */
  commit(token: string): Promise<JobView>;
  /** `force` ends a job that can be neither finished nor undone; the view then names every key. */
  abort(token: string, options: { readonly force: boolean }): Promise<JobView>;
}

/** One job: fixed columns for lists, anything else for `show` and `--json`. */
export interface JobView {
  readonly token: string;
  readonly jobAttempt: number;
  readonly state: string;
  readonly destination: string;
  readonly [field: string]: unknown;
}

/** What removes the state of jobs, and open uploads. Throws `CommitterError`s. */
export interface CleanupAdmin {
  /** With the time to live of the configuration. */
  gc(options: Omit<GcOptions, 'ttlMs'>): Promise<GcReport>;
  listUploads(query: UploadsQuery): Promise<readonly OpenUpload[]>;
  abortUploads(query: UploadsQuery, dryRun: boolean): Promise<AbortedUploads>;
}
