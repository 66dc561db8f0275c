import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { OssDouble, ossErrorBody } from '../../support/oss-double/index.js';
import { ManagedChild, repoRoot } from '../../support/servers/index.js';
import {
  defaultHadoop,
  installGoClient,
  installJavaClients,
  installPythonClients,
  olderHadoop,
  type HadoopVersion,
} from './install.js';

const bucket = 'lake';
const python = join(repoRoot, 'test/oss/clients/python');
const all = process.env['COMMITBRIDGE_TEST_ALL'] === '1';

type Signature = 'v1' | 'v4';
interface Client {
  name: string;
  signature: Signature;
  command: () => Promise<[program: string, ...args: string[]]>;
  /** How many calls its script has: one that ends early has not passed. */
  calls: number;
}

const pythonScript = (name: string) => async (): Promise<[string, string]> => [
  await installPythonClients(),
  join(python, name),
];

const java =
  (main: string, version: HadoopVersion = defaultHadoop) =>
  async (): Promise<[string, ...string[]]> => {
    const options = ['-Xmx256m', '-XX:TieredStopAtLevel=1', `-Dhadoop.version=${version.hadoop}`];
    return ['java', ...options, '-cp', await installJavaClients(version), main];
  };

const both = (client: Omit<Client, 'signature'>): Client[] => [
  { ...client, signature: 'v1' },
  { ...client, signature: 'v4' },
];

const clients: Client[] = [
  ...both({ name: 'oss2 2.19.1 (Python)', command: pythonScript('oss2_calls.py'), calls: 27 }),
  ...both({
    name: 'alibabacloud-oss-v2 1.4.1 (Python)',
    command: pythonScript('oss_v2_calls.py'),
    calls: 19,
  }),
  ...both({
    name: 'alibabacloud-oss-go-sdk-v2 1.6.1 (Go)',
    command: async () => [await installGoClient()],
    calls: 18,
  }),
  ...both({ name: `aliyun-sdk-oss ${defaultHadoop.sdk} (Java)`, command: java('SdkCalls'), calls: 19 }),
  ...both({ name: `hadoop-aliyun ${defaultHadoop.hadoop}`, command: java('FileSystemCalls'), calls: 13 }),
];
if (all) {
  clients.push({
    name: `hadoop-aliyun ${olderHadoop.hadoop} with aliyun-sdk-oss ${olderHadoop.sdk}`,
    signature: 'v1',
    command: java('FileSystemCalls', olderHadoop),
    calls: 13,
  });
}

describe('clients that others wrote, on the double of OSS', () => {
  const results: string[] = [];
  let double: OssDouble;

  beforeAll(async () => {
    for (const { command } of clients) await command();
  }, 900_000);

  beforeEach(async () => {
    double = await OssDouble.start({ buckets: [bucket] });
    // A large object can't be copied in one request, so that hadoop-aliyun copies its parts.
    double.on(
      { kind: 'copy', key: /large renamed$/, where: ({ partNumber }) => partNumber === undefined },
      () => ({
        do: 'respond',
        status: 400,
        body: ossErrorBody('EntityTooLarge', 'Too large to copy at once.'),
      }),
    );
  });

  afterEach(async () => {
    await double.stop();
  });

  afterAll(() => {
    console.log(`\nclient, signature: calls tried, passed\n${results.join('\n')}`);
  });

  it.each(clients)('$name, $signature', async ({ name, signature, command, calls }) => {
    const [program, ...args] = await command();
    const temporary = double.keys.issue(3_600_000);
    const child = await ManagedChild.start(program, args, {
      env: {
        PYTHONDONTWRITEBYTECODE: '1',
        OSS_ENDPOINT: double.endpoint,
        OSS_REGION: double.region,
        OSS_BUCKET: bucket,
        OSS_SIGNATURE: signature,
        OSS_ACCESS_KEY_ID: double.accessKey.accessKeyId,
        OSS_ACCESS_KEY_SECRET: double.accessKey.accessKeySecret,
        OSS_STS_ACCESS_KEY_ID: temporary.accessKeyId,
        OSS_STS_ACCESS_KEY_SECRET: temporary.accessKeySecret,
        OSS_STS_TOKEN: temporary.securityToken,
      },
    });
    const { code } = await child.exited;
    const last = /^\{"tried": ?(\d+), ?"passed": ?(\d+)\}|^\{"passed": ?(\d+), ?"tried": ?(\d+)\}/m.exec(
      child.output.trimEnd().split('\n').at(-1) ?? '',
    );
    const [tried, passed] = [Number(last?.[1] ?? last?.[4]), Number(last?.[2] ?? last?.[3])];
    results.push(`${name}, ${signature}: ${tried}, ${passed}`);
    expect({ code, tried, passed }, child.output).toEqual({ code: 0, tried: calls, passed: calls });
    expect(double.select({ where: ({ status }) => status === 500 })).toEqual([]);
    if (name.startsWith('hadoop')) {
      const partCopies = double.select({ kind: 'copy', where: ({ partNumber }) => partNumber !== undefined });
      expect(partCopies.length).toBeGreaterThan(1);
    }
  });
});
