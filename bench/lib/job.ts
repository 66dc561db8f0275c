import { mapLimit } from '../../src/app/map-limit.js';
import type { DaemonClient } from '../../test/support/memory-daemon/client.js';
import type * as wire from '../../test/support/memory-daemon/wire.js';

const tasksAtOnce = 32;

export interface JobShape {
  readonly token: string;
  readonly destination: string;
  readonly files: number;
  readonly tasks: number;
}

/** A job whose tasks have committed, as a driver finds it before commitJob. No part is sent: the sink asks for none. */
export async function prepareJob(client: DaemonClient, shape: JobShape): Promise<wire.JobRef> {
  const { token, destination, files, tasks } = shape;
  const job: wire.JobRef = { tokens: [token], jobAttempt: 0, destination };
  await client.setupJob({ job, setupId: token, protocolVersion: 1 });
  const numbers = Array.from({ length: tasks }, (_, task) => task);
  await mapLimit(numbers, tasksAtOnce, async (task) => {
    const count = Math.floor(((task + 1) * files) / tasks) - Math.floor((task * files) / tasks);
    const name = String(task).padStart(6, '0');
    const attempt = { task: `m-${name}`, attemptNumber: 0, attemptId: `attempt_${token}_m_${name}_0` };
    const closed: wire.ClosedFile[] = [];
    for (let file = 0; file < count; file++) {
      const uri = `${destination}/part-${name}-${file}.snappy.parquet`;
      const { file: pending } = await client.openFile({ job, attempt, uri, partsToSign: 0 });
      closed.push({ pending, parts: [{ partNumber: 1, etag: '"e"', sizeBytes: 1 }] });
    }
    await client.commitTask({ job, attempt, fileCount: count }, ...batches(closed));
  });
  return job;
}

/** In messages of less than a mebibyte. */
function* batches(files: readonly wire.ClosedFile[]): Generator<readonly wire.ClosedFile[]> {
  const batch = 2_000;
  for (let start = 0; start < files.length; start += batch) yield files.slice(start, start + batch);
}
