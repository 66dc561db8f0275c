import { afterEach, beforeEach, expect, it } from 'vitest';
import { abortJob } from '../../src/app/abort-job.js';
import { CommitterApp } from '../../src/app/app.js';
import { commitJob } from '../../src/app/commit-job.js';
import { TaskCommit } from '../../src/app/commit-task.js';
import { openFile } from '../../src/app/open-file.js';
import { setupJob } from '../../src/app/setup-job.js';
import { MemoryObjectStore } from '../../src/adapters/memory/memory-object-store.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import { SystemRandom } from '../../src/adapters/system/random.js';
import { parseUri } from '../../src/core/uri.js';
import type { Logger } from '../../src/ports/logger.js';

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};
const attempt = { task: 'm-000000', attemptNumber: 0, attemptId: 'attempt_0' };

/** Two endpoints that both have a bucket of this name, and jobs of one token on both. */
const bucket = 'bkt';
let stores: Record<'a' | 'z', MemoryObjectStore>;
let app: CommitterApp;

beforeEach(() => {
  stores = {
    a: new MemoryObjectStore({ buckets: [bucket] }),
    z: new MemoryObjectStore({ buckets: [bucket] }),
  };
  app = new CommitterApp({
    roots: (['a', 'z'] as const).map((name) => ({
      uri: parseUri(`s3a://${bucket}/${name}`, 'root'),
      storeName: name,
      store: stores[name],
      staging: { bucket, key: '.commitbridge/jobs' },
      principals: [],
    })),
    clock: new SystemClock(),
    random: new SystemRandom(),
    logger: silent,
    metrics: { count: () => undefined, observe: () => undefined, gauge: () => undefined },
    options: {
      version: 'test',
      completeConcurrency: 4,
      recordConcurrency: 4,
      signedUrlSeconds: 900,
      firstPartBytes: 8 * 1024 * 1024,
      maxInlineBytes: 1_024,
      maxInlineBytesPerAttempt: 4_096,
      requestBoundMs: 10,
      heldBytes: 32 * 1024 * 1024,
      cleanup: true,
      ledgerIntervalMs: 10,
      maxMessageBytes: 1024 * 1024,
    },
  });
});
afterEach(() => app.close());

async function setUp(name: 'a' | 'z') {
  const job = { tokens: ['nightly'], jobAttempt: 0, destination: `s3a://${bucket}/${name}/d` };
  const options = {
    conflictMode: 'append',
    conflictScope: 'destination',
    conflictPaths: [],
    allowOtherLocations: false,
    successMarker: true,
  } as const;
  await setupJob(app.context, { job, setupId: name, options, description: '', protocolVersion: 1 }, 'local');
  return job;
}

it('jobs of one token on two stores with a bucket of one name do not join: each publishes its own', async () => {
  const jobs = [];
  for (const [name, files] of [
    ['a', 1],
    ['z', 2],
  ] as const) {
    const job = await setUp(name);
    const commit = await TaskCommit.begin(app.context, { job, attempt, fileCount: files }, 'local');
    for (let index = 0; index < files; index++) {
      commit.add([
        { inline: { uri: `${job.destination}/f${index}`, content: Buffer.from('x'), contentType: '' } },
      ]);
    }
    await commit.commit();
    jobs.push(job);
  }
  const counts = await Promise.all(
    jobs.map((job) => commitJob(app.context, { job, exactWinners: undefined }, 'local')),
  );
  expect(counts.map(({ files }) => files)).toEqual([1, 2]);
  expect(stores.z.objects(bucket).filter(({ key }) => key.startsWith('z/d/f'))).toHaveLength(2);
});

it('the end of a job on one store ends no upload of its namesake on another', async () => {
  const [first, second] = [await setUp('a'), await setUp('z')];
  const open = (job: typeof first): Promise<unknown> =>
    openFile(
      app.context,
      { job, attempt, uri: `${job.destination}/f`, partsToSign: 0, contentType: '' },
      'local',
    );
  await open(first);
  await open(second);
  await abortJob(app.context, { job: first, scope: 'this-and-earlier', reason: '' }, 'local');
  await expect.poll(() => stores.a.uploads(bucket)).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(stores.z.uploads(bucket)).toHaveLength(1);
});
