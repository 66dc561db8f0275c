import type { TaskAttempt } from '../core/ids.js';
import type { UploadIdentity } from '../core/records/attempt-record.js';
import { unreadable } from '../core/records/codec.js';
import type { ClosedFileRecord } from '../core/records/closed-file.js';
import { leaveOutUnreadable, type AppContext } from './context.js';
import type { JobFacts } from './facts.js';
import type { Job } from './job-directory.js';
import { mapLimit } from './map-limit.js';

/** The files that were closed under one task attempt; those of another attempt id under its number are not. */
export async function readClosedFilesOf(
  ctx: AppContext,
  { facts }: Job,
  attempt: TaskAttempt,
): Promise<ClosedFileRecord[]> {
  const listed = facts.listClosedFiles(attempt.task, attempt.number);
  const records = await mapLimit(listed, ctx.options.recordConcurrency, ({ key }) => read(facts, key));
  return records
    .filter((record) => record !== undefined)
    .filter((record) => record.attempt.id === attempt.id);
}

/** By key, of any attempts of one job attempt. One that cannot be read is left out where the job is ended by force. */
export async function readClosedFiles(
  ctx: AppContext,
  facts: JobFacts,
  keys: readonly string[],
): Promise<ClosedFileRecord[]> {
  const records = await mapLimit(keys, ctx.options.recordConcurrency, (key) =>
    read(facts, key).catch((error: unknown) => {
      leaveOutUnreadable(ctx, error);
      return undefined;
    }),
  );
  return records.filter((record) => record !== undefined);
}

/** Once nothing will take them in any more, and their uploads are dealt with. */
export async function removeClosedFilesOf(ctx: AppContext, job: Job, attempt: TaskAttempt): Promise<void> {
  if (job.record.options.taskRecords !== 'store') return;
  for (const record of await readClosedFilesOf(ctx, job, attempt)) await removeClosedFile(job, record);
}

export function removeClosedFile(job: Job, { attempt, file }: ClosedFileRecord): Promise<void> {
  return removeClosedFileOf(job, attempt, file);
}

/** Immutable and named by its upload: what is there is what was meant. */
export async function removeClosedFileOf(
  { root, facts }: Job,
  { task, number }: TaskAttempt,
  { commitbridgeId }: UploadIdentity,
): Promise<void> {
  const key = facts.layout.closedFile(task, number, commitbridgeId);
  await root.store.delete({ bucket: facts.bucket, key }, {});
}

async function read(facts: JobFacts, key: string): Promise<ClosedFileRecord | undefined> {
  const record = await facts.readClosedFile(key);
  if (record !== undefined && (record.token !== facts.layout.token || facts.closedFileKey(record) !== key)) {
    throw unreadable(key, `it says that it is of job ${record.token}, ${record.attempt.task}`);
  }
  return record;
}
