import type { WriteStep } from '../../test/support/spark/index.js';

export interface JobOptions {
  readonly files: number;
  /** Of each file; 0: about a kilobyte. */
  readonly fileMib: number;
  /** 0: not partitioned. */
  readonly partitions: number;
}

const rowsOfSmallFile = 10;
/** Of a row of a large file. */
const valueBytes = 64 * 1024;
const mebibyte = 1024 * 1024;

/** A file a task; or a file of each partition in each task. */
export function tasksOf({ files, partitions }: JobOptions): number {
  if (partitions === 0) return files;
  if (files % partitions !== 0) throw new Error(`--files takes a multiple of --partitions ${partitions}.`);
  return files / partitions;
}

/** The same rows for every committer. */
export function writeOf(options: JobOptions, path: string): WriteStep {
  const { files, fileMib, partitions } = options;
  const large = fileMib > 0;
  return {
    ...{ do: 'write', format: 'parquet', path, tasks: tasksOf(options), times: true },
    rows: files * (large ? (fileMib * mebibyte) / valueBytes : rowsOfSmallFile),
    ...(large ? { value_bytes: valueBytes } : {}),
    ...(partitions === 0 ? {} : { partition_by: 'p', partitions }),
  };
}
