import { CommitterError } from '../core/errors.js';
import type { AttemptRef } from '../app/attempt-ref.js';
import type { ClosedFileRef } from '../app/commit-task.js';
import type { UploadedFileRef } from '../app/parse-closed-file.js';
import type { FileRef } from '../app/file-ref.js';
import type { JobRef } from '../app/job-directory.js';
import type { JobOptions } from '../core/records/job-record.js';
import type { ClosedFile__Output } from './generated/commitbridge/v1/ClosedFile.js';
import type { JobOptions__Output } from './generated/commitbridge/v1/JobOptions.js';
import type { JobRef__Output } from './generated/commitbridge/v1/JobRef.js';
import type { PendingFile__Output } from './generated/commitbridge/v1/PendingFile.js';
import type { TaskAttemptRef__Output } from './generated/commitbridge/v1/TaskAttemptRef.js';

/** From the wire to what the use cases take. Shape only: the use cases judge the values. */
export function jobRef(job: JobRef__Output | null): JobRef {
  return required(job, 'job');
}

export function attemptRef(attempt: TaskAttemptRef__Output | null): AttemptRef {
  return required(attempt, 'attempt');
}

export function fileRef(file: PendingFile__Output | null): FileRef {
  return required(file, 'file');
}

export function closedFile(file: ClosedFile__Output): ClosedFileRef {
  const { inline } = file;
  if (inline !== null) {
    if (file.pending !== null) {
      throw new CommitterError('INVALID_FIELD', 'files: a file is either pending or inline, not both');
    }
    return { inline };
  }
  return {
    pending: required(file.pending, 'files.pending'),
    parts: file.parts.map(({ partNumber, etag, sizeBytes }) => ({
      partNumber,
      etag,
      sizeBytes: wholeNumber(sizeBytes),
    })),
  };
}

/** A closed file that is an upload. */
export function uploadedFile(file: ClosedFile__Output | null): UploadedFileRef {
  const closed = closedFile(required(file, 'file'));
  if (closed.inline === undefined) return closed;
  throw new CommitterError('INVALID_FIELD', 'file: an inline file goes with CommitTask only');
}

export function jobOptions(options: JobOptions__Output | null): JobOptions {
  return {
    conflictMode: conflictMode(options?.conflictMode ?? 'CONFLICT_MODE_UNSPECIFIED'),
    conflictScope: conflictScope(options?.conflictScope ?? 'CONFLICT_SCOPE_UNSPECIFIED'),
    successMarker: !(options?.skipSuccessMarker ?? false),
    conflictPaths: options?.conflictPaths ?? [],
    allowOtherLocations: options?.allowOtherLocations ?? false,
    ...taskRecords(options?.taskRecords ?? 'TASK_RECORDS_UNSPECIFIED'),
  };
}

/** Enums arrive as names; a number is a value that this daemon does not know. */
function conflictMode(value: string | number): JobOptions['conflictMode'] {
  switch (value) {
    case 'CONFLICT_MODE_UNSPECIFIED':
    case 'CONFLICT_MODE_APPEND':
      return 'append';
    case 'CONFLICT_MODE_FAIL':
      return 'fail';
    case 'CONFLICT_MODE_REPLACE':
      return 'replace';
    default:
      throw unknownEnum('options.conflict_mode', value);
  }
}

function conflictScope(value: string | number): JobOptions['conflictScope'] {
  switch (value) {
    case 'CONFLICT_SCOPE_UNSPECIFIED':
    case 'CONFLICT_SCOPE_DESTINATION':
      return 'destination';
    case 'CONFLICT_SCOPE_PARTITIONS':
      return 'partitions';
    case 'CONFLICT_SCOPE_PATHS':
      return 'paths';
    default:
      throw unknownEnum('options.conflict_scope', value);
  }
}

function taskRecords(value: string | number): Pick<JobOptions, 'taskRecords'> {
  switch (value) {
    case 'TASK_RECORDS_UNSPECIFIED':
    case 'TASK_RECORDS_CLIENT':
      return {};
    case 'TASK_RECORDS_STORE':
      return { taskRecords: 'store' };
    case 'TASK_RECORDS_DRIVER':
      return { taskRecords: 'driver' };
    default:
      throw unknownEnum('options.task_records', value);
  }
}

export function abortScope(value: string | number): 'this-and-earlier' | 'earlier' {
  switch (value) {
    case 'ABORT_SCOPE_UNSPECIFIED':
    case 'ABORT_SCOPE_THIS_AND_EARLIER_ATTEMPTS':
      return 'this-and-earlier';
    case 'ABORT_SCOPE_EARLIER_ATTEMPTS':
      return 'earlier';
    default:
      throw unknownEnum('scope', value);
  }
}

/** Text for people, with a limit that keeps records small. */
export function shortText(text: string, field: string, maxBytes = 1_024): string {
  if (Buffer.byteLength(text) > maxBytes) {
    throw new CommitterError('INVALID_FIELD', `${field} has more than ${maxBytes} bytes`);
  }
  return text;
}

/** -1 where it is none that JavaScript can hold; the use cases refuse that. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : -1;
}

function required<T>(value: T | null | undefined, field: string): T {
  if (value === null || value === undefined) throw new CommitterError('INVALID_FIELD', `${field} is missing`);
  return value;
}

function unknownEnum(field: string, value: string | number): CommitterError {
  return new CommitterError(
    'INVALID_FIELD',
    `${field} has the value ${value}, which this daemon does not know`,
  );
}
