import { z } from 'zod';
import type { JobToken, TaskAttempt, TaskName } from '../ids.js';
import {
  attemptSchema,
  commitJson,
  commitSchema,
  pendingFileOf,
  type PendingFile,
} from './attempt-record.js';
import { decodeJson, encodeJson } from './codec.js';

/** files/…: a closed file that CommitTask of its attempt will take in, whoever wrote it. */
export interface ClosedFileRecord {
  readonly token: JobToken;
  readonly attempt: TaskAttempt;
  readonly file: PendingFile;
}

const format = 'commitbridge/closed-file/1';

const schema = z.object({
  format: z.literal(format),
  jobId: z.string(),
  attempt: attemptSchema,
  commit: commitSchema,
});

export function encodeClosedFile({ token, attempt, file }: ClosedFileRecord): Uint8Array {
  return encodeJson({ format, jobId: token, attempt: { ...attempt }, commit: commitJson(file) });
}

export function decodeClosedFile(body: Uint8Array, where: string): ClosedFileRecord {
  const { jobId, attempt, commit } = decodeJson(schema, body, where);
  return {
    token: jobId as JobToken,
    attempt: { ...attempt, task: attempt.task as TaskName },
    file: pendingFileOf(commit),
  };
}
