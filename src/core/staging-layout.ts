import { isToken, type JobToken, type TaskName } from './ids.js';
import { joinKey } from './uri.js';

/** Where a job attempt's facts lie: `<staging>/<token>/<jobAttempt>/…`. Other software relies on these names. */
export class JobLayout {
  readonly prefix: string;

  constructor(
    readonly stagingKey: string,
    readonly token: JobToken,
    readonly jobAttempt: number,
  ) {
    this.prefix = joinKey(stagingKey, token, String(jobAttempt));
  }

  get job(): string {
    return `${this.prefix}/job.json`;
  }

  get decision(): string {
    return `${this.prefix}/decision.json`;
  }

  get outcome(): string {
    return `${this.prefix}/outcome.json`;
  }

  plan(hash: string): string {
    return `${this.prefix}/plan-${hash}`;
  }

  get records(): string {
    return `${this.prefix}/tasks/`;
  }

  record(task: TaskName, attemptNumber: number): string {
    return `${this.records}${task}/${attemptNumber}`;
  }

  /** Only with `TASK_RECORDS_STORE`. */
  get closedFiles(): string {
    return `${this.prefix}/files/`;
  }

  closedFilesOf(task: TaskName, attemptNumber: number): string {
    return `${this.closedFiles}${task}/${attemptNumber}/`;
  }

  /** One name for one upload, so that a replay meets its own record. */
  closedFile(task: TaskName, attemptNumber: number, commitbridgeId: string): string {
    return `${this.closedFilesOf(task, attemptNumber)}${commitbridgeId}`;
  }

  /** Only with `TASK_RECORDS_DRIVER`. */
  get claims(): string {
    return `${this.prefix}/claims/`;
  }

  claim(hash: string): string {
    return `${this.claims}${hash}`;
  }

  /** The hash that a key under {@link claims} is named by; `undefined` for anything else. */
  parseClaimKey(key: string): string | undefined {
    const name = key.startsWith(this.claims) ? key.slice(this.claims.length) : '';
    return /^[0-9a-f]{64}$/.test(name) ? name : undefined;
  }

  get ledger(): string {
    return `${this.prefix}/opened/`;
  }

  ledgerSegment(start: string, sequence: number): string {
    return `${this.ledger}${start}-${String(sequence).padStart(8, '0')}`;
  }

  /** The task attempt that a key under {@link records} stands for; `undefined` for anything else. */
  parseRecordKey(key: string): { readonly task: TaskName; readonly attemptNumber: number } | undefined {
    if (!key.startsWith(this.records)) return undefined;
    const match = /^([a-z]-[0-9]{1,10})\/([0-9]{1,10})$/.exec(key.slice(this.records.length));
    if (match === null) return undefined;
    return { task: match[1] as TaskName, attemptNumber: Number(match[2]) };
  }
}

/** The prefix that all attempts of a job lie under. */
export function tokenPrefix(stagingKey: string, token: JobToken): string {
  return `${joinKey(stagingKey, token)}/`;
}

/** The numbers of the job attempts in a listing of {@link tokenPrefix} with delimiter `/`. */
export function parseJobAttempts(prefix: string, listed: readonly string[]): number[] {
  return listed
    .map((entry) => /^([0-9]{1,7})\/$/.exec(entry.slice(prefix.length))?.[1])
    .filter((text) => text !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

/** The tokens in a listing of a staging root with delimiter `/`. */
export function parseTokens(prefix: string, listed: readonly string[]): JobToken[] {
  return listed.map((entry) => entry.slice(prefix.length).replace(/\/$/, '')).filter(isToken);
}
