import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { SystemClock } from '../../../src/adapters/system/clock.js';
import { SystemRandom } from '../../../src/adapters/system/random.js';
import type { CleanupAdmin, JobsAdmin, JobView } from '../../../src/cli/app.js';
import { runCli } from '../../../src/cli/run.js';
import { statusOf } from '../../../src/rpc/status.js';
import { CommitterError, type ErrorReasonName } from '../../../src/core/errors.js';

const view: JobView = {
  token: 'job-1',
  jobAttempt: 0,
  state: 'committed',
  destination: 's3://b/t',
  files: 3,
};

class Sink extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

async function run(args: readonly string[], jobs: Partial<JobsAdmin>) {
  const stdout = new Sink();
  const stderr = new Sink();
  let isClosed = false;
  const env = {
    COMMITBRIDGE_STORES_MAIN_TYPE: 'memory',
    COMMITBRIDGE_ROOTS: '[{uri: s3a://b/t, store: main}]',
    COMMITBRIDGE_LOG_LEVEL: 'error',
  };
  const code = await runCli(['jobs', ...args], {
    io: { env, stdout, stderr },
    version: '0.0.0',
    onStopSignal: () => () => undefined,
    buildApp: () =>
      Promise.resolve({
        services: [],
        jobs: jobs as JobsAdmin,
        cleanup: {} as CleanupAdmin,
        stores: new Map(),
        clock: new SystemClock(),
        random: new SystemRandom(),
        statusOf,
        close: () => {
          isClosed = true;
          return Promise.resolve();
        },
      }),
  });
  return { code, stdout: stdout.text, stderr: stderr.text, isClosed };
}

describe('jobs', () => {
  it('lists a line a job', async () => {
    const old = {
      ...view,
      createdAt: new Date(Date.now() - 26.5 * 3_600_000).toISOString(),
      description: `nightly load of user etl\n\u001b[2J${'x'.repeat(100)}`,
    };
    const { stdout, code, isClosed } = await run(['list'], { list: () => Promise.resolve([view, old]) });
    expect(stdout).toBe(
      [
        `TOKEN  ATTEMPT  STATE      AGE    ${'APPLICATION'.padEnd(60)}  DESTINATION`,
        `job-1  0        committed  -      ${'-'.padEnd(60)}  s3://b/t`,
        `job-1  0        committed  1d 2h  nightly load of user etl ?[2J${'x'.repeat(30)}…  s3://b/t`,
        '',
      ].join('\n'),
    );
    expect([code, isClosed]).toEqual([0, true]);
  });

  it('lists a JSON object a line', async () => {
    const { stdout } = await run(['list', '--json'], { list: () => Promise.resolve([view, view]) });
    expect(stdout).toBe(`${JSON.stringify(view)}\n`.repeat(2));
  });

  it('shows every field of a job', async () => {
    const { stdout } = await run(['show', 'job-1'], { show: () => Promise.resolve(view) });
    expect(stdout).toContain('destination  s3://b/t\n');
    expect(stdout).toContain('files        3\n');
  });

  it('hands --force to abort', async () => {
    const asked: unknown[] = [];
    const abort: JobsAdmin['abort'] = (token, options) => {
      asked.push(token, options);
      return Promise.resolve(view);
    };
    await run(['abort', 'job-1'], { abort });
    await run(['abort', 'job-1', '--force'], { abort });
    expect(asked).toEqual(['job-1', { force: false }, 'job-1', { force: true }]);
  });

  it('says that a job which was not decided may be a part of its output', async () => {
    const show = () => Promise.resolve({ ...view, state: 'undecided' });
    const commit = () => Promise.resolve({ ...view, state: 'done', tasks: 3 });
    const { stderr } = await run(['commit', 'job-1'], { show, commit });
    expect(stderr).toContain('committed with the 3 tasks that had committed');
    const again = await run(['commit', 'job-1'], {
      show: () => Promise.resolve({ ...view, state: 'publishing' }),
      commit,
    });
    expect(again.stderr).toBe('');
  });

  it('names the records that an abort by force left out', async () => {
    const unreadable = ['the record x/tasks/m-000001/0 cannot be used: it is not JSON'];
    const { stderr, stdout } = await run(['abort', 'job-1', '--force'], {
      abort: () => Promise.resolve({ ...view, unreadable }),
    });
    expect(stderr).toContain('1 records could not be read and were left');
    expect(stderr).toContain(unreadable[0]);
    expect(stdout).toContain('unreadable');
  });

  it('says that an abort came too late', async () => {
    const { stderr } = await run(['abort', 'job-1'], {
      abort: () => Promise.resolve({ ...view, state: 'done' }),
    });
    expect(stderr).toContain('its output stays');
  });

  it.each<[ErrorReasonName, number]>([
    ['STORE_UNAVAILABLE', 4],
    ['JOB_NOT_FOUND', 3],
    ['OVERWROTE_OBJECTS', 3],
    ['INVALID_FIELD', 2],
    ['FOREIGN_OBJECT', 1],
  ])('turns %s into exit code %i, with its sentence', async (reason, exitCode) => {
    const commit = () => Promise.reject(new CommitterError(reason, 'this and that'));
    const { code, stderr, isClosed } = await run(['commit', 'job-1'], {
      commit,
      show: () => Promise.resolve(view),
    });
    expect([code, stderr, isClosed]).toEqual([exitCode, `this and that (${reason})\n`, true]);
  });
});
