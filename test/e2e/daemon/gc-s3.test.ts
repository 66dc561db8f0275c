import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GcReport } from '../../../src/app/gc.js';
import { s3Client, startS3Proxy, startVersityGw, type S3Server } from '../../support/servers/index.js';
import { TestClient } from './client.js';
import { memoryConfig, runCli, Sandbox, type Yaml } from './daemon.js';

describe.each([
  ['versitygw', startVersityGw],
  ['s3proxy', startS3Proxy],
] as const)('gc against %s', (_name, start) => {
  let server: S3Server;
  let sandbox: Sandbox;
  const bucket = 'lake';

  beforeAll(async () => {
    server = await start();
    const client = s3Client(server);
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    client.destroy();
  }, 300_000);
  afterAll(() => server.stop());
  beforeEach(async () => {
    sandbox = await Sandbox.make();
  });
  afterEach(() => sandbox.close());

  it('ends what a daemon left that was killed, orphans and all, by command only', async () => {
    const credentials = { accessKeyId: server.accessKey, secretAccessKey: server.secretKey };
    const stores: Yaml = {
      stores: { main: { type: 's3', endpoint: server.endpoint, region: server.region, credentials } },
      roots: [{ uri: `s3a://${bucket}/tables`, store: 'main' }],
    };
    const daemon = await sandbox.serve(stores);
    const client = new TestClient(daemon.tcp);
    const token = `job-${randomUUID()}`;
    const job = { tokens: [token], jobAttempt: 0, destination: `s3a://${bucket}/tables/t` };
    const attempt = { task: 'm-000000', attemptNumber: 0, attemptId: 'a' };
    const setup = { job, setupId: 'x', options: {}, protocolVersion: 1 };
    expect((await client.unary('commitbridge.v1.JobService', 'setupJob', setup)).error).toBeUndefined();
    const open = { job, attempt, uri: `${job.destination}/part-0`, partsToSign: 1 };
    expect((await client.unary('commitbridge.v1.UploadService', 'openFile', open)).error).toBeUndefined();
    client.close();
    await daemon.kill();

    const s3 = s3Client(server);
    await s3.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'tables/t/orphan' }));
    await s3.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'tables/t2/neighbour' }));
    const uploads = async () =>
      ((await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads ?? [])
        .map(({ Key }) => Key)
        .sort();
    const config = await sandbox.config(memoryConfig, stores);
    const gc = async (...args: string[]) => {
      const result = await runCli(['gc', '--json', '--config', config, ...args]);
      expect([result.code, result.stderr]).toEqual([0, expect.not.stringContaining('"error"')]);
      return JSON.parse(result.stdout) as GcReport;
    };

    expect((await gc('--yes')).jobs).toEqual([]);
    const now = ['--older-than', '0s', '--prefix', job.destination];
    expect((await gc(...now)).jobs).toMatchObject([{ token, ending: 'abort' }]);
    expect(await uploads()).toEqual(['tables/t/orphan', 'tables/t/part-0', 'tables/t2/neighbour']);
    expect((await gc('--yes', ...now)).jobs).toMatchObject([{ token, state: 'undecided', ending: 'abort' }]);
    expect(await uploads()).toEqual(['tables/t2/neighbour']);

    const keys = async () =>
      ((await s3.send(new ListObjectsV2Command({ Bucket: bucket }))).Contents ?? []).map(({ Key }) => Key);
    expect(await keys()).toEqual([
      `.commitbridge/jobs/${token}/0/decision.json`,
      `.commitbridge/jobs/${token}/0/job.json`,
    ]);
    s3.destroy();
  });
});
