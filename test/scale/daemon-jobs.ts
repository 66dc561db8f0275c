import { readdirSync, readFileSync } from 'node:fs';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { mapLimit } from '../../src/app/map-limit.js';
import { DaemonProcess } from '../support/daemon/index.js';
import { DaemonClient } from '../support/memory-daemon/index.js';
import { s3Client, startVersityGw, type S3Server } from '../support/servers/index.js';

/** What the daemon's process holds at a moment when it has nothing to do. */
interface Held {
  readonly handles: number;
  readonly rssMiB: number;
}

const bucket = 'scale';

/**
 * Runs jobs through a real daemon with a heap of 256 MB on a real S3 server, some at once, and looks at its process
 * after each quarter. The first quarter warms it up.
 *
 * @returns what is wrong; `undefined` where handles and memory are flat, or where the machine has no /proc.
 */
export async function runDaemonJobs(jobs: number): Promise<string | undefined> {
  const server = await startVersityGw();
  try {
    return await runOn(server, jobs);
  } finally {
    await server.stop();
  }
}

async function runOn(server: S3Server, jobs: number): Promise<string | undefined> {
  const s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket: bucket }));
  s3.destroy();
  const daemon = await DaemonProcess.start({
    store: server,
    bucket,
    nodeOptions: ['--max-old-space-size=256'],
  });
  const client = new DaemonClient(daemon.address);
  const held: Held[] = [];
  try {
    for (let quarter = 0; quarter < 4; quarter++) {
      const tokens = Array.from({ length: jobs / 4 }, (_, index) => `job-${quarter}-${index}`);
      await mapLimit(tokens, 8, (token) => runJob(client, token));
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const now = look(daemon.pid);
      if (now === undefined) return undefined;
      held.push(now);
    }
  } finally {
    client.close();
    await daemon.stop();
  }
  const [first, last] = [held[0]!, held.at(-1)!];
  console.log(`    ${held.map(({ handles, rssMiB }) => `${handles} handles, ${rssMiB} MiB`).join('; ')}`);
  if (last.handles > first.handles + 16) return `handles grew from ${first.handles} to ${last.handles}`;
  if (last.rssMiB > first.rssMiB + 64) return `RSS grew from ${first.rssMiB} to ${last.rssMiB} MiB`;
  return undefined;
}

async function runJob(client: DaemonClient, token: string): Promise<void> {
  const job = { tokens: [token], jobAttempt: 0, destination: `s3a://${bucket}/tables/${token}` };
  const attempt = { task: 'm-000000', attemptNumber: 0, attemptId: `attempt_${token}` };
  await client.setupJob({ job, setupId: token, protocolVersion: 1 });
  const { file, signedParts } = await client.openFile({
    job,
    attempt,
    uri: `${job.destination}/part-0`,
    partsToSign: 1,
  });
  const reply = await fetch(signedParts[0]!.url, { method: 'PUT', body: 'x' });
  const parts = [{ partNumber: 1, etag: reply.headers.get('etag') ?? '', sizeBytes: 1 }];
  await client.commitTask({ job, attempt, fileCount: 1 }, [{ pending: file, parts }]);
  const { files } = await client.commitJob({ job });
  if (files !== '1') throw new Error(`${token}: ${files} files`);
}

function look(pid: number): Held | undefined {
  if (process.platform !== 'linux') return undefined;
  const rss = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { handles: readdirSync(`/proc/${pid}/fd`).length, rssMiB: Math.round(Number(rss) / 1_024) };
}
