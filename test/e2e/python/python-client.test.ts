import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DaemonProcess } from '../../support/daemon/index.js';
import { StoreReader } from '../../support/observer/index.js';
import {
  cacheDir,
  installVenv,
  ManagedChild,
  repoRoot,
  runTool,
  startS3Proxy,
  type S3Server,
} from '../../support/servers/index.js';

const bucket = 'lake';
const purpose = 'the Python client of the tests';
const source = join(repoRoot, 'test/python');

let server: S3Server;
let daemon: DaemonProcess;
let reader: StoreReader;
let python: string;
let generated: string;

/** A virtual environment with the pinned packages, and the modules that grpc_tools makes of the protos alone. */
async function installClient(): Promise<{ python: string; generated: string }> {
  const name = 'python-client';
  const python = await installVenv(name, join(source, 'requirements.txt'), purpose);
  const out = join(cacheDir, `${name}-generated`);
  await runTool('mkdir', ['-p', out], { purpose });
  const names = ['admin_service', 'common', 'errors', 'job_service', 'upload_service'];
  const proto = join(repoRoot, 'proto');
  const tools = ['-m', 'grpc_tools.protoc', `-I${proto}`, `--python_out=${out}`, `--grpc_python_out=${out}`];
  const files = names.map((name) => join(proto, `commitbridge/v1/${name}.proto`));
  await runTool(python, [...tools, ...files], { purpose });
  return { python, generated: out };
}

beforeAll(async () => {
  ({ python, generated } = await installClient());
  server = await startS3Proxy();
  reader = new StoreReader(server, bucket);
  await reader.createBucket();
  daemon = await DaemonProcess.start({ store: server, bucket });
}, 300_000);

afterAll(async () => {
  await daemon?.stop();
  reader?.close();
  await server?.stop();
});

function start(mode: string, token: string): Promise<ManagedChild> {
  const args = [join(source, 'client.py'), mode, daemon.address, destinationOf(token), token];
  return ManagedChild.start(python, args, { env: { PYTHONPATH: generated, PYTHONDONTWRITEBYTECODE: '1' } });
}

async function run(mode: string, token: string): Promise<string> {
  const child = await start(mode, token);
  const { code } = await child.exited;
  expect(`${code} ${child.output}`).toMatch(/^0 /);
  return child.output;
}

const destinationOf = (token: string): string => `s3a://${bucket}/tables/${token}`;
const visible = (token: string) => reader.listObjects(`tables/${token}/`);

/** Records go in the background. */
async function expectNothingLeft(token: string): Promise<void> {
  expect(await reader.listUploads('tables/')).toEqual([]);
  const records = async () =>
    (await reader.listObjects(`.commitbridge/jobs/${token}/`)).filter(({ key }) =>
      /\/(tasks|opened)\//.test(key),
    );
  await expect.poll(records, { timeout: 10_000 }).toEqual([]);
}

describe('a Python client that knows the protos alone', () => {
  it('commits a job of ten files through signed URLs', async () => {
    const output = await run('commit', 'python-commit');
    expect(output).toMatch(/"step": "committed", "files": 10, .*"tasks": 10/);
    const objects = await visible('python-commit');
    expect(objects.map(({ key }) => key.replace('tables/python-commit/', '')).sort()).toEqual(
      ['_SUCCESS', ...Array.from({ length: 10 }, (_, i) => `year=${2020 + i}/part ${i} é.csv`)].sort(),
    );
    const bytes = (i: number): number => (i === 0 ? 0 : i < 9 ? 2 * i * 1_000 : 12_000_000);
    for (let i = 0; i < 10; i++) {
      const body = await reader.getObject(`tables/python-commit/year=${2020 + i}/part ${i} é.csv`);
      expect(body?.equals(Buffer.from(`${i},`.repeat(bytes(i) / 2)))).toBe(true);
    }
    await expectNothingLeft('python-commit');
  });

  it('killed half-way leaves nothing visible; another client aborts the job and no upload is left', async () => {
    const child = await start('half', 'python-killed');
    await expect.poll(() => child.output, { timeout: 60_000 }).toContain('half-way');
    child.kill();
    await child.exited;
    expect(await visible('python-killed')).toEqual([]);
    expect((await reader.listUploads('tables/python-killed/')).length).toBe(6);
    // The open one is in the ledger within a second or so.
    const ledger = () => reader.listObjects('.commitbridge/jobs/python-killed/0/opened/');
    await expect.poll(async () => (await ledger()).length, { timeout: 10_000 }).toBeGreaterThan(0);
    // Also where the daemon that knew of it is gone.
    await daemon.kill();
    await daemon.restart();
    expect(await run('abort-only', 'python-killed')).toContain('"published": false');
    expect(await visible('python-killed')).toEqual([]);
    await expectNothingLeft('python-killed');
  });

  it('aborts a job', async () => {
    expect(await run('abort', 'python-abort')).toContain('"published": false');
    expect(await visible('python-abort')).toEqual([]);
    await expectNothingLeft('python-abort');
  });

  it('that cancels CommitTask in the middle has committed nothing by it', async () => {
    expect(await run('cancel-commit-task', 'python-cancel')).toMatch(/"committed-task", "files": 2/);
    await expectNothingLeft('python-cancel');
  });
});
