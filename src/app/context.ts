import { isCommitterError, type CommitterError } from '../core/errors.js';
import { isoTime } from '../core/iso-time.js';
import type { Clock, Random } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { CallOptions } from '../ports/object-store.js';
import type { Background } from './background.js';
import type { JobDirectory } from './job-directory.js';
import type { JoinedCalls } from './joined-calls.js';
import type { Ledger } from './ledger.js';
import type { Roots } from './roots.js';

/** What every use case works with. */
export interface AppContext {
  readonly roots: Roots;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly options: AppOptions;
  readonly jobs: JobDirectory;
  readonly ledger: Ledger;
  readonly background: Background;
  readonly joined: JoinedCalls;
  /**
   * Set where a job is ended by force: a task record or ledger segment that cannot be read is told here and left out. In
   * all other calls it is an error.
   */
  readonly leaveOut?: (error: CommitterError) => void;
}

/** @throws the error, unless it says that a record is unreadable and such records are to be left out. */
export function leaveOutUnreadable({ leaveOut }: AppContext, error: unknown): void {
  if (leaveOut === undefined || !isCommitterError(error, 'RECORD_UNREADABLE')) throw error;
  leaveOut(error);
}

export interface AppOptions {
  /** Version of the daemon, for records and GetServerInfo. */
  readonly version: string;
  /** Completes under way at once in one CommitJob. */
  readonly completeConcurrency: number;
  /** Reads of records, HEADs and aborts under way at once in one call. */
  readonly recordConcurrency: number;
  /** Life of a signed part URL; 900 at most. */
  readonly signedUrlSeconds: number;
  /** Size of the first parts of a file. */
  readonly firstPartBytes: number;
  /** Bytes in an inline file; 0 where none are taken. */
  readonly maxInlineBytes: number;
  readonly maxInlineBytesPerAttempt: number;
  /** The longest that a request which isn't one-shot may be under way; T in docs/protocol.md. */
  readonly requestBoundMs: number;
  /** How long the one-shot requests of a publication are repeated while the store throttles or gives no answer. */
  readonly patienceMs?: number;
  /** Of pendingsets that one CommitJob holds between its decision and their publication; it reads the others again. */
  readonly heldBytes: number;
  /** Remove records of ended jobs in the background. */
  readonly cleanup: boolean;
  /** An open upload is in the ledger after twice this time at the latest. */
  readonly ledgerIntervalMs: number;
  readonly maxMessageBytes: number;
}

/** For the one-shot requests of a publication: CommitJob goes on without its client, whatever that waits for. */
export function patiently({ options: { patienceMs } }: AppContext): CallOptions {
  return patienceMs === undefined ? {} : { patienceMs };
}

/** For what isn't one-shot, and must not reach the store long after the look that allowed it. */
export function inTime({ options: { requestBoundMs } }: AppContext): CallOptions {
  return { withinMs: requestBoundMs };
}

export const protocolVersion = { min: 1, max: 1 } as const;

export const batchLimits = {
  /** What a client should put into one batch. */
  maxBatchBytes: 1024 * 1024,
  maxSignedParts: 1_000,
} as const;

/** For people who read a record; no decision is made by it. */
export function isoNow(clock: Clock): string {
  return isoTime(clock.nowMs());
}

export function randomHex(random: Random, bytes: number): string {
  return Buffer.from(random.bytes(bytes)).toString('hex');
}
