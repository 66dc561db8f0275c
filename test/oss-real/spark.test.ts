import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleJar } from '../../scripts/lib/bundle-jar.js';
import { Daemon } from '../../scripts/lib/daemon.js';
import { runSpark } from '../support/spark/index.js';
import { cleanUp, realBucket, type RealBucket } from './bucket.js';

let real: RealBucket;
let daemon: Daemon | undefined;
beforeAll(async () => {
  real = realBucket();
  const { bucket, prefix, access, isPathStyle } = real;
  const root = { uri: `oss://${bucket}/${prefix}warehouse`, staging: `oss://${bucket}/${prefix}staging` };
  const { accessKeyId, accessKeySecret, securityToken } = real.options.credentials;
  const credentials = {
    ...{ accessKeyId, secretAccessKey: accessKeySecret },
    ...(securityToken === undefined ? {} : { sessionToken: securityToken }),
  };
  const config = { store: { pathStyle: isPathStyle, credentials }, roots: [{ ...root, store: 'main' }] };
  daemon = await Daemon.start({ store: access, type: 'oss', bucket, config });
}, 60_000);
afterAll(async () => {
  await daemon?.stop();
  await cleanUp(real);
}, 120_000);

it('a Spark job on OSS: two appends, read back by hadoop-aliyun', { timeout: 900_000 }, async () => {
  const { securityToken } = real.options.credentials;
  const path = `oss://${real.bucket}/${real.prefix}warehouse/table`;
  const write = { do: 'write', path, format: 'parquet', rows: 600, tasks: 2, partition_by: 'p' } as const;
  const { steps, exitCode, log } = await runSpark({
    steps: [write, { ...write, first: 600 }, { do: 'read', path, format: 'parquet' }],
    oss: real.access,
    master: 'local[2]',
    bundleJar,
    conf: {
      'spark.sql.sources.commitProtocolClass': 'io.commitbridge.spark.BridgeCommitProtocol',
      'spark.hadoop.commitbridge.endpoints': daemon?.endpoint ?? '',
      'spark.hadoop.commitbridge.inline-limit': '0',
      ...(securityToken === undefined ? {} : { 'spark.hadoop.fs.oss.securityToken': securityToken }),
    },
  });
  expect(exitCode, steps.find(({ error }) => error !== undefined)?.error ?? log).toBe(0);
  expect(steps[2]).toMatchObject({ rows: 1_200, distinct_ids: 1_200, wrong_values: 0 });
});
