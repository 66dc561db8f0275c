import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { SystemClock } from '../../../src/adapters/system/clock.js';
import { SystemRandom } from '../../../src/adapters/system/random.js';
import type { GcReport } from '../../../src/app/gc.js';
import type { OpenUpload } from '../../../src/app/uploads.js';
import type { CleanupAdmin, JobsAdmin } from '../../../src/cli/app.js';
import { runCli } from '../../../src/cli/run.js';
import { CommitterError } from '../../../src/core/errors.js';
import type { JobToken } from '../../../src/core/ids.js';
import { StoreError } from '../../../src/ports/object-store.js';
import { statusOf } from '../../../src/rpc/status.js';

class Sink extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

async function run(args: readonly string[], cleanup: Partial<CleanupAdmin> = {}) {
  const [stdout, stderr] = [new Sink(), new Sink()];
  const env = {
    COMMITBRIDGE_STORES_MAIN_TYPE: 'memory',
    COMMITBRIDGE_ROOTS: '[{uri: s3a://b/t, store: main}]',
    COMMITBRIDGE_LOG_LEVEL: 'error',
  };
  const code = await runCli(args, {
    io: { env, stdout, stderr },
    version: '0.0.0',
    onStopSignal: () => () => undefined,
    buildApp: () =>
      Promise.resolve({
        services: [],
        jobs: {} as JobsAdmin,
        cleanup: cleanup as CleanupAdmin,
        stores: new Map(),
        clock: new SystemClock(),
        random: new SystemRandom(),
        statusOf,
        close: () => Promise.resolve(),
      }),
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

const token = 'job-1' as JobToken;
const report: GcReport = {
  dryRun: true,
  seen: 3,
  jobs: [
    {
      token,
      staging: 'b/staging',
      destination: 's3://b/t/x',
      jobAttempts: [0],
      state: 'undecided',
      ending: 'abort',
      late: { records: 2, ledgerSegments: 1, closedFiles: 0, claims: 0, uploads: 3 },
    },
  ],
};
const orphan: OpenUpload = {
  uri: 's3://b/t/x',
  uploadId: 'up-1',
  initiatedMs: 0,
  ageMs: 90_000_000,
  isOfRunningJob: false,
};
const spared: OpenUpload = { ...orphan, token, isOfRunningJob: true };

describe('gc', () => {
  it('is a dry run of seven days without --yes', async () => {
    const asked: unknown[] = [];
    const gc: CleanupAdmin['gc'] = (options) => {
      asked.push(options);
      return Promise.resolve({ ...report, dryRun: options.dryRun });
    };
    const dry = await run(['gc'], { gc });
    expect(dry.code).toBe(0);
    expect(dry.stdout).toContain(
      'abort, process 2 records, 1 ledger segments, 0 closed files and 0 claims (3 uploads)  s3://b/t/x',
    );
    expect(dry.stdout).toContain('Nothing was changed: --yes does it.');
    const real = await run(['gc', '--yes', '--older-than', '12h', '--prefix', 's3a://b/t'], { gc });
    expect(real.stdout).not.toContain('Nothing was changed');
    expect(asked).toEqual([
      { olderThanMs: 604_800_000, dryRun: true },
      { olderThanMs: 43_200_000, dryRun: false, prefix: 's3a://b/t' },
    ]);
  });

  it('prints the report as one JSON object', async () => {
    const { stdout } = await run(['gc', '--json'], { gc: () => Promise.resolve(report) });
    expect(JSON.parse(stdout)).toEqual(report);
  });

  it('fails where a job could not be dealt with', async () => {
    const jobs = [{ ...report.jobs[0]!, problem: 'it is gone' }];
    const { code, stdout } = await run(['gc', '--yes'], { gc: () => Promise.resolve({ ...report, jobs }) });
    expect([code, stdout]).toEqual([1, expect.stringContaining('failed: it is gone')]);
  });

  it('says that the expectation was not met where uploads cannot be listed', async () => {
    const gc = () => Promise.resolve({ ...report, uploadsProblem: 'exact key only' });
    const { code, stderr } = await run(['gc', '--prefix', 's3a://b/t'], { gc });
    expect([code, stderr]).toEqual([3, 'exact key only\n']);
  });

  it('says that a store cannot be reached', async () => {
    const gc = () => Promise.reject(new StoreError('unavailable', 'connection refused'));
    const { code, stderr } = await run(['gc'], { gc });
    expect(code).toBe(4);
    expect(stderr).toMatch(/connection refused.*STORE_UNAVAILABLE/);
  });

  it.each([
    [['gc', 'TOKEN'], /takes no argument/],
    [['gc', '--older-than', '7'], /--older-than takes a duration/],
    [['uploads'], /takes list or abort/],
    [['uploads', 'list'], /needs --prefix/],
    [['uploads', 'list', '--prefix', 's3a://b/t', '--yes'], /--yes goes with uploads abort/],
  ])('%j is bad usage', async (args, sentence) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(sentence);
  });
});

describe('uploads', () => {
  it('lists age, job, URI and id of all ages', async () => {
    const ages: number[] = [];
    const listUploads: CleanupAdmin['listUploads'] = ({ olderThanMs }) => {
      ages.push(olderThanMs);
      return Promise.resolve([orphan, spared]);
    };
    const { stdout } = await run(['uploads', 'list', '--prefix', 's3a://b/t'], { listUploads });
    expect(stdout.split('\n').slice(1, 3)).toEqual([
      '1d 1h  -                s3://b/t/x  up-1',
      '1d 1h  job-1 (running)  s3://b/t/x  up-1',
    ]);
    const json = await run(['uploads', 'list', '--prefix', 's3a://b/t', '--json'], { listUploads });
    expect(
      json.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([orphan, spared]);
    expect(ages).toEqual([0, 0]);
  });

  it('aborts only with --yes, and of seven days without --older-than', async () => {
    const asked: unknown[] = [];
    const abortUploads: CleanupAdmin['abortUploads'] = ({ olderThanMs }, dryRun) => {
      asked.push([olderThanMs, dryRun]);
      return Promise.resolve({ aborted: [orphan], kept: [spared] });
    };
    const args = ['uploads', 'abort', '--prefix', 's3a://b/t'];
    const dry = await run(args, { abortUploads });
    expect(dry.stdout).toContain('1 uploads would be aborted. Nothing was changed');
    expect(dry.stdout).toContain('job job-1 has not ended');
    expect((await run([...args, '--yes'], { abortUploads })).stdout).toContain('1 uploads aborted.');
    expect(asked).toEqual([
      [604_800_000, true],
      [604_800_000, false],
    ]);
  });

  it('says that the expectation was not met where the store cannot list', async () => {
    const listUploads = () => Promise.reject(new CommitterError('UNSUPPORTED', 'exact key only'));
    const { code } = await run(['uploads', 'list', '--prefix', 's3a://b/t'], { listUploads });
    expect(code).toBe(3);
  });
});
