import { CreateBucketCommand, ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { s3Client, startS3Proxy, startVersityGw, type S3Server } from '../../support/servers/index.js';
import { memoryConfig, runCli, Sandbox } from './daemon.js';

describe.each([
  ['versitygw', startVersityGw],
  ['s3proxy', startS3Proxy],
] as const)('check against %s', (_name, start) => {
  let server: S3Server;
  let sandbox: Sandbox;

  beforeAll(async () => {
    server = await start();
    const client = s3Client(server);
    await client.send(new CreateBucketCommand({ Bucket: 'check' }));
    client.destroy();
  }, 300_000);

  afterAll(async () => {
    await server.stop();
  });

  beforeEach(async () => {
    sandbox = await Sandbox.make();
  });

  afterEach(async () => {
    await sandbox.close();
  });

  async function check(options: { secret?: string; bucket?: string } = {}) {
    const { secret = server.secretKey, bucket = 'check' } = options;
    const credentials = { accessKeyId: server.accessKey, secretAccessKey: secret };
    const config = await sandbox.config(memoryConfig, {
      stores: { main: { type: 's3', endpoint: server.endpoint, region: server.region, credentials } },
      roots: [{ uri: `s3a://${bucket}/tables`, store: 'main' }],
    });
    const result = await runCli(['check', '--json', '--config', config]);
    const findings = result.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { check: string; status: string; message: string });
    return { ...result, findings };
  }

  it('tries everything and leaves nothing', async () => {
    const { findings } = await check();
    const statuses = Object.fromEntries(findings.map(({ check: name, status }) => [name, status]));
    expect(statuses, JSON.stringify(findings, undefined, 1)).toMatchObject({
      reach: 'ok',
      'conditional put': 'ok',
      clock: 'ok',
      upload: 'ok',
      'presigned part': 'ok',
    });
    const client = s3Client(server);
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: 'check' }));
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: 'check' }));
    client.destroy();
    expect([Contents.map(({ Key }) => Key), Uploads.map(({ Key }) => Key)]).toEqual([[], []]);
  });

  it('names the key of wrong credentials', async () => {
    const { code, findings } = await check({ secret: 'wrong-wrong-wrong' });
    expect(code).toBe(1);
    expect(findings.at(-1)?.message).toContain('change stores.main.credentials');
  });

  it('names the key of a missing bucket', async () => {
    const { code, findings } = await check({ bucket: 'missing-bucket' });
    expect(code).toBe(1);
    expect(findings.at(-1)?.message).toBe(
      "bucket missing-bucket doesn't exist: create it, or change roots[0].uri or staging.",
    );
  });

  it('serve says the same of a missing bucket, without a stack', async () => {
    const { accessKey: accessKeyId, secretKey: secretAccessKey, endpoint, region } = server;
    const daemon = await sandbox.serve({
      stores: {
        main: { type: 's3', endpoint, region, credentials: { accessKeyId, secretAccessKey } },
      },
      roots: [{ uri: 's3a://missing-bucket/tables', store: 'main' }],
      admin: { listen: '127.0.0.1:0' },
    });
    const why = "bucket missing-bucket doesn't exist: create it, or change roots[0].uri or staging.";
    await expect
      .poll(() => daemon.logs.map(({ message, why: said }) => [message, said]), { timeout: 10_000 })
      .toEqual(
        expect.arrayContaining([
          ['staging root not checked', why],
          ['store does not answer', why],
        ]),
      );
    expect(daemon.logs.filter((line) => JSON.stringify(line).includes('"stack"'))).toEqual([]);
  });
});
