import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DaemonProcess } from '../support/daemon/index.js';
import { DaemonClient, expectError, type wire } from '../support/memory-daemon/index.js';
import { StoreReader } from '../support/observer/index.js';
import { startS3Proxy, type S3Server } from '../support/servers/index.js';

const bucket = 'lake';
/** So that an error comes within seconds and not minutes. */
const retry = { attempts: 2, baseDelay: '10ms', maxDelay: '50ms' };

let server: S3Server;
let reader: StoreReader;
const started: { daemon: DaemonProcess; client: DaemonClient }[] = [];
beforeAll(async () => {
  server = await startS3Proxy();
  reader = new StoreReader(server, bucket);
  await reader.createBucket();
}, 300_000);
afterEach(async () => {
  for (const { daemon, client } of started.splice(0)) {
    client.close();
    await daemon.stop();
  }
});
afterAll(async () => {
  reader?.close();
  await server?.stop();
});

async function start(store: Partial<S3Server> = {}, inBucket = bucket): Promise<DaemonClient> {
  const access = {
    ...{ endpoint: server.endpoint, region: server.region },
    ...{ accessKey: server.accessKey, secretKey: server.secretKey },
    ...store,
  };
  const daemon = await DaemonProcess.start({ store: access, bucket: inBucket, config: { retry } });
  const client = new DaemonClient(daemon.address);
  started.push({ daemon, client });
  return client;
}

function newJob(inBucket = bucket): wire.JobRef {
  return {
    tokens: [`job-${randomUUID()}`],
    jobAttempt: 0,
    destination: `s3a://${inBucket}/tables/${randomUUID()}`,
  };
}

const setup = (client: DaemonClient, job: wire.JobRef) =>
  client.setupJob({ job, setupId: 'setup', protocolVersion: 1 });
const attempt = { task: 'm-000000', attemptNumber: 0, attemptId: 'attempt-0' };

async function writeAndCommitTask(client: DaemonClient, job: wire.JobRef): Promise<void> {
  const uri = `${job.destination!}/a`;
  const { file, signedParts } = await client.openFile({ job, attempt, uri, partsToSign: 1 });
  const { url, headers } = signedParts[0]!;
  const answer = await fetch(url, { method: 'PUT', body: 'a', headers });
  const parts = [{ partNumber: 1, etag: answer.headers.get('etag') ?? '', sizeBytes: 1 }];
  await client.commitTask({ job, attempt }, [{ pending: file!, parts }]);
}

async function expectPublished(client: DaemonClient, job: wire.JobRef): Promise<void> {
  expect(await client.commitJob({ job })).toEqual({ files: '1', bytes: '1', tasks: '1' });
  const prefix = job.destination!.replace(`s3a://${bucket}/`, '');
  expect((await reader.listObjects(`${prefix}/`)).map(({ key }) => key.slice(prefix.length + 1))).toEqual([
    '_SUCCESS',
    'a',
  ]);
}

describe('a store that', () => {
  it('goes away: UNAVAILABLE, and nothing is lost when it is back', async () => {
    const client = await start();
    const job = newJob();
    await setup(client, job);
    await writeAndCommitTask(client, job);
    server.kill();
    await expectError(client.commitJob({ job }), 'STORE_UNAVAILABLE', /stores\.\*\.endpoint/);
    await expectError(setup(client, newJob()), 'STORE_UNAVAILABLE');
    await server.restart();
    await expectPublished(client, job);
  });

  it('was never there: UNAVAILABLE within seconds, with a sentence that names the key', async () => {
    const client = await start({ endpoint: 'http://127.0.0.1:9' });
    await expectError(setup(client, newJob()), 'STORE_UNAVAILABLE', /stores\.\*\.endpoint/);
  });

  it('refuses the credentials: PERMISSION_DENIED, and another daemon with right ones goes on', async () => {
    const good = await start();
    const job = newJob();
    await setup(good, job);
    await writeAndCommitTask(good, job);
    const bad = await start({ secretKey: 'wrong-secret' });
    await expectError(bad.commitJob({ job }), 'STORE_ACCESS_DENIED', /stores\.\*\.credentials/);
    await expectError(setup(bad, newJob()), 'STORE_ACCESS_DENIED', /stores\.\*\.credentials/);
    await expectError(bad.abortJob({ job }), 'STORE_ACCESS_DENIED');
    await expectPublished(good, job);
  });

  it('has no such bucket: NOT_FOUND, with a sentence that names the key', async () => {
    const client = await start({}, 'missing-bucket');
    await expectError(setup(client, newJob('missing-bucket')), 'BUCKET_NOT_FOUND', /roots\[\]\.uri/);
  });
});
