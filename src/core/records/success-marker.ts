import { encodeJson } from './codec.js';
import type { JobToken } from '../ids.js';

export const successMarkerName = '_SUCCESS';

/** A marker that lists every file has run drivers out of memory (HADOOP-16570). */
export const maxFilenames = 100;

export interface SuccessMarker {
  readonly token: JobToken;
  readonly jobAttempt: number;
  readonly files: number;
  readonly bytes: number;
  readonly tasks: number;
  /** ISO 8601: the decision's, so that every publisher of the job writes the same bytes. */
  readonly decidedAt: string;
  readonly description: string;
  /** Final keys; the first hundred are kept. */
  readonly keys: readonly string[];
}

/** The fields of S3A's SuccessData, so that its tools read it; a marker of 0 bytes means a classic committer. */
export function encodeSuccessMarker(marker: SuccessMarker): Uint8Array {
  return encodeJson({
    name: 'org.apache.hadoop.fs.s3a.commit.files.SuccessData/1',
    success: true,
    timestamp: Date.parse(marker.decidedAt),
    date: marker.decidedAt,
    committer: 'commitbridge',
    description: marker.description,
    jobId: marker.token,
    jobIdSource: 'commitbridge',
    metrics: { files: marker.files, bytes: marker.bytes, tasks: marker.tasks, jobAttempt: marker.jobAttempt },
    diagnostics: {},
    filenames: marker.keys.slice(0, maxFilenames).map((key) => `/${key}`),
  });
}
