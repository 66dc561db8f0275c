import { abortJob } from '../../src/app/abort-job.js';
import { CommitterApp } from '../../src/app/app.js';
import { commitJob } from '../../src/app/commit-job.js';
import { TaskCommit } from '../../src/app/commit-task.js';
import type { UploadedFileRef } from '../../src/app/parse-closed-file.js';
import { mapLimit } from '../../src/app/map-limit.js';
import { openFile } from '../../src/app/open-file.js';
import { setupJob } from '../../src/app/setup-job.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import { SystemRandom } from '../../src/adapters/system/random.js';
import { parseUri } from '../../src/core/uri.js';
import type { Logger } from '../../src/ports/logger.js';
import type { ObjectStore } from '../../src/ports/object-store.js';
import { runDaemonJobs } from './daemon-jobs.js';
import { plantEndedJobs } from './ended-jobs.js';
import { startRemoteStore } from './remote-store.js';

/**
 * Large jobs in a small heap: run it with `node --max-old-space-size=256 --import tsx test/scale/run.ts`. The heap is
 * what is proved: a job that doesn't fit ends the process. One line a scenario, and a closing line for CI.
 */
const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message, fields) => {
    console.error(message, fields);
  },
  error: (message, fields) => {
    console.error(message, fields);
  },
  child: () => quiet,
};

const bucket = 'data';
const staging = '.commitbridge/jobs';
const { store, sent, stop } = startRemoteStore([bucket]);

function startApp(): CommitterApp {
  return new CommitterApp({
    roots: [
      {
        uri: parseUri(`s3a://${bucket}/`, 'root'),
        storeName: 'data',
        store,
        staging: { bucket, key: staging },
        principals: [],
      },
    ],
    clock: new SystemClock(),
    random: new SystemRandom(),
    logger: quiet,
    metrics: { count: () => undefined, observe: () => undefined, gauge: () => undefined },
    options: {
      version: 'scale',
      completeConcurrency: 64,
      recordConcurrency: 64,
      signedUrlSeconds: 900,
      firstPartBytes: 8 * 1024 * 1024,
      maxInlineBytes: 16 * 1024,
      maxInlineBytesPerAttempt: 1024 * 1024,
      requestBoundMs: 100,
      heldBytes: 32 * 1024 * 1024,
      cleanup: true,
      ledgerIntervalMs: 500,
      maxMessageBytes: 16 * 1024 * 1024,
    },
  });
}

const app = startApp();
const ctx = app.context;

async function setUp(token: string): Promise<{ tokens: string[]; jobAttempt: number; destination: string }> {
  const job = { tokens: [token], jobAttempt: 0, destination: `s3a://${bucket}/${token}` };
  const options = {
    conflictMode: 'append',
    conflictScope: 'destination',
    conflictPaths: [],
    allowOtherLocations: false,
    successMarker: true,
  } as const;
  await setupJob(ctx, { job, setupId: 'scale', options, description: '', protocolVersion: 1 }, 'local');
  return job;
}

async function runTask(job: Awaited<ReturnType<typeof setUp>>, number: number, files: number): Promise<void> {
  const attempt = {
    task: `m-${String(number).padStart(6, '0')}`,
    attemptNumber: 0,
    attemptId: `attempt_${number}_0`,
  };
  const indices = Array.from({ length: files }, (_, index) => index);
  const closed = await mapLimit(indices, 16, async (index): Promise<UploadedFileRef> => {
    const uri = `${job.destination}/year=2026/month=${String(number % 12)}/part-${String(number).padStart(5, '0')}-${index}.c000.snappy.parquet`;
    const { file } = await openFile(ctx, { job, attempt, uri, partsToSign: 0, contentType: '' }, 'local');
    const { key } = parseUri(file.uri, 'uri');
    const part = await store.uploadPart({ bucket, key, uploadId: file.uploadId }, 1, Buffer.from('x'));
    return { pending: file, parts: [{ partNumber: 1, etag: part.etag, sizeBytes: 1 }] };
  });
  const commit = await TaskCommit.begin(ctx, { job, attempt, fileCount: files }, 'local');
  commit.add(closed);
  await commit.commit();
}

async function runTasks(job: Awaited<ReturnType<typeof setUp>>, tasks: number, files: number): Promise<void> {
  await mapLimit(
    Array.from({ length: tasks }, (_, index) => index),
    16,
    (index) => runTask(job, index, files),
  );
}

interface Counts {
  readonly objects: number;
  readonly uploads: number;
}
const counts = (): Promise<Counts> => (store as ObjectStore & { counts(): Promise<Counts> }).counts();

let passed = 0;
let failed = 0;

async function scenario(name: string, work: () => Promise<string | undefined>): Promise<void> {
  const startedAt = performance.now();
  let problem: string | undefined;
  try {
    problem = await work();
  } catch (error) {
    problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const rss = Math.round(process.memoryUsage.rss() / 1024 ** 2);
  console.log(
    `${problem === undefined ? 'ok' : 'FAILED'}  ${name}  ${seconds} s, RSS ${rss} MiB${problem === undefined ? '' : `: ${problem}`}`,
  );
  if (problem === undefined) passed++;
  else failed++;
}

const tasks = Number(process.env['COMMITBRIDGE_TEST_SCALE_TASKS'] ?? 10_000);
const filesPerTask = 10;
const files = tasks * filesPerTask;

await scenario(`${files} files in ${tasks} tasks committed`, async () => {
  const job = await setUp('commit');
  await runTasks(job, tasks, filesPerTask);
  const { files: published } = await commitJob(ctx, { job, exactWinners: undefined }, 'local');
  await ctx.background.idle();
  const { uploads } = await counts();
  return published === files && uploads === 0 ? undefined : `published ${published}, uploads left ${uploads}`;
});
await scenario(`${files} files in ${tasks} tasks aborted`, async () => {
  const job = await setUp('abort');
  await runTasks(job, tasks, filesPerTask);
  const { published } = await abortJob(ctx, { job, scope: 'this-and-earlier', reason: 'scale' }, 'local');
  await ctx.background.idle();
  const { uploads } = await counts();
  return !published && uploads === 0 ? undefined : `published ${published}, uploads left ${uploads}`;
});
await scenario(`${files} files in ${tasks} tasks rolled back when half of them were published`, async () => {
  const job = await setUp('rollback');
  await runTasks(job, tasks, filesPerTask);
  const before = await counts();
  const committing = commitJob(ctx, { job, exactWinners: undefined }, 'local').then(
    () => 'committed',
    () => 'failed',
  );
  for (;;) {
    const now = await counts();
    if (before.uploads - now.uploads > files / 2) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { published } = await abortJob(ctx, { job, scope: 'this-and-earlier', reason: 'scale' }, 'local');
  const end = await committing;
  await ctx.background.idle();
  const { uploads } = await counts();
  const listed = await store.list(bucket, 'rollback/', {});
  const isClean = !published && end === 'failed' && uploads === 0 && listed.objects.length === 0;
  return isClean
    ? undefined
    : `${end}, published ${published}, uploads left ${uploads}, objects ${listed.objects.length}`;
});
await scenario(`${files / 2} files in one task committed`, async () => {
  const job = await setUp('one-task');
  await runTask(job, 0, files / 2);
  const { files: published } = await commitJob(ctx, { job, exactWinners: undefined }, 'local');
  await ctx.background.idle();
  return published === files / 2 ? undefined : `published ${published}`;
});
await scenario('1,000 jobs in a row leave the heap flat', async () => {
  const heapAfter: number[] = [];
  for (let round = 0; round < 1_000; round++) {
    const job = await setUp(`row-${round}`);
    await runTask(job, 0, 1);
    await commitJob(ctx, { job, exactWinners: undefined }, 'local');
    if (round % 250 === 249) {
      await ctx.background.idle();
      globalThis.gc?.();
      heapAfter.push(process.memoryUsage().heapUsed / 1024 ** 2);
    }
  }
  const [first = 0] = heapAfter;
  const last = heapAfter.at(-1) ?? 0;
  return last - first < 16 ? undefined : `heap grew from ${first.toFixed(0)} to ${last.toFixed(0)} MiB`;
});
await scenario(`${tasks * 2} ended jobs beside it cost a new job no request`, async () => {
  const requestsOf = async (token: string): Promise<number> => {
    const before = sent();
    const job = await setUp(token);
    await runTask(job, 0, 1);
    await commitJob(ctx, { job, exactWinners: undefined }, 'local');
    await ctx.background.idle();
    return sent() - before;
  };
  const alone = await requestsOf('alone');
  const facts = await plantEndedJobs(store, bucket, staging, 'alone', tasks * 2);
  const beside = await requestsOf('beside');
  return facts === 4 && beside === alone
    ? undefined
    : `${alone} requests alone, ${beside} beside; ${facts} facts`;
});
await scenario(`${tasks / 10} jobs leave the handles and the memory of a daemon flat`, () =>
  runDaemonJobs(tasks / 10),
);
await app.close();
await stop();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
