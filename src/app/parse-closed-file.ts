import { CommitterError } from '../core/errors.js';
import type { TaskAttempt } from '../core/ids.js';
import type { PendingFile } from '../core/records/attempt-record.js';
import { quote } from '../core/uri.js';
import type { AppContext } from './context.js';
import { parseFile, type FileRef } from './file-ref.js';
import type { Job } from './job-directory.js';

export interface PartRef {
  readonly partNumber: number;
  readonly etag: string;
  readonly sizeBytes: number;
}

/** An upload whose parts are all there, as a caller names it. */
export interface UploadedFileRef {
  readonly pending: FileRef;
  readonly parts: readonly PartRef[];
  readonly inline?: undefined;
}

const etagPattern = /^[\x21-\x7e]{1,256}$/;

/** @throws CommitterError INVALID_PARTS besides those of {@link parseFile} */
export function parseClosedFile(
  ctx: AppContext,
  job: Job,
  attempt: TaskAttempt,
  { pending, parts }: UploadedFileRef,
): PendingFile {
  const identity = parseFile(ctx.roots, job, attempt, pending);
  const { minPartBytes, maxPartBytes, maxParts, emptyParts } = ctx.roots.storeOf(identity).capabilities;
  const invalid = (why: string): CommitterError =>
    new CommitterError('INVALID_PARTS', `the parts of ${quote(pending.uri)} cannot make a file: ${why}`);
  if (parts.length === 0) throw invalid('there are none; an empty file has one part of 0 bytes');
  if (parts.length > maxParts) throw invalid(`there are ${parts.length}, the store takes ${maxParts}`);
  let lengthBytes = 0;
  parts.forEach((part, index) => {
    if (part.partNumber !== index + 1) throw invalid(`part ${index + 1} is missing or out of order`);
    if (!etagPattern.test(part.etag)) throw invalid(`part ${part.partNumber} has no ETag`);
    const isLast = index === parts.length - 1;
    const least = isLast ? (parts.length === 1 && emptyParts ? 0 : 1) : minPartBytes;
    if (!Number.isSafeInteger(part.sizeBytes) || part.sizeBytes < least || part.sizeBytes > maxPartBytes) {
      throw invalid(
        `part ${part.partNumber} has ${part.sizeBytes} bytes; ${least} to ${maxPartBytes} are allowed there`,
      );
    }
    lengthBytes += part.sizeBytes;
  });
  return { ...identity, lengthBytes, etags: parts.map(({ etag }) => etag) };
}
