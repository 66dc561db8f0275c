import { CommitterError } from './errors.js';
import { quote } from './uri.js';

declare const brand: unique symbol;
type Branded<T, B extends string> = T & { readonly [brand]: B };

/** Names a job for good: unlike Hadoop's JobID, which two Spark jobs of one second share (SPARK-33402). */
export type JobToken = Branded<string, 'JobToken'>;
/** Type and number of a task, as `m-000012`. Spark's TaskID strings carry differing job ids (SPARK-26873). */
export type TaskName = Branded<string, 'TaskName'>;

export interface TaskAttempt {
  readonly task: TaskName;
  /** Orders the attempts of a task; frameworks reuse it (SPARK-26682). */
  readonly number: number;
  /** Unique for each run. */
  readonly id: string;
}

/** SetupJob settles each lower one by a request of its own. */
export const maxJobAttempt = 1_000;
const tokenPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const taskPattern = /^[a-z]-[0-9]{1,10}$/;
const setupIdPattern = /^[A-Za-z0-9._-]{1,128}$/;
const attemptIdPattern = /^[\x21-\x7e]{1,256}$/;

export function parseToken(text: string, field = 'job.tokens'): JobToken {
  if (!tokenPattern.test(text)) throw malformed(field, '[A-Za-z0-9][A-Za-z0-9._-]{0,199}', text);
  return text as JobToken;
}

export function isToken(text: string): text is JobToken {
  return tokenPattern.test(text);
}

export function parseTask(text: string, field = 'attempt.task'): TaskName {
  if (!taskPattern.test(text)) throw malformed(field, '[a-z]-[0-9]{1,10}, as m-000012', text);
  return text as TaskName;
}

export function parseSetupId(text: string): string {
  if (!setupIdPattern.test(text)) throw malformed('setup_id', '[A-Za-z0-9._-]{1,128}', text);
  return text;
}

export function parseAttemptId(text: string): string {
  if (!attemptIdPattern.test(text))
    throw malformed('attempt.attempt_id', '1 to 256 characters of printable ASCII', text);
  return text;
}

export function parseJobAttempt(value: number): number {
  return parseNumber(value, 'job.job_attempt', maxJobAttempt);
}

export function parseAttemptNumber(value: number): number {
  return parseNumber(value, 'attempt.attempt_number', 0x7fff_ffff);
}

function parseNumber(value: number, field: string, max: number): number {
  if (!Number.isSafeInteger(value) || value < 0 || value > max) {
    throw new CommitterError(
      'INVALID_FIELD',
      `${field} must be a whole number from 0 to ${max}; got ${value}`,
    );
  }
  return value;
}

function malformed(field: string, pattern: string, text: string): CommitterError {
  return new CommitterError('INVALID_FIELD', `${field} must match ${pattern}; got ${quote(text)}`);
}
