import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  bucket,
  closeAllDaemons,
  expectError,
  startMemoryDaemon,
  TestJob,
  type MemoryDaemon,
} from '../support/memory-daemon/index.js';

let daemon: MemoryDaemon;
beforeEach(async () => {
  daemon = await startMemoryDaemon();
});
afterEach(closeAllDaemons);

const newJob = (options = {}) => new TestJob(daemon.client, daemon.memory, options);

/** What holds after any end of a job. */
async function expectNothingLeft(job: TestJob): Promise<void> {
  await daemon.idle();
  expect(job.openUploads()).toEqual([]);
  expect(job.recordsLeft()).toEqual([]);
}

describe('a job from setup to commit', () => {
  it('shows nothing after each task commit, all after the job commit, and leaves nothing pending', async () => {
    const job = newJob();
    const unseen = () => {
      expect(job.visible()).toEqual({});
      expect(job.marker()).toBeUndefined();
    };
    await job.setup();
    unseen();
    const attempts = [job.attempt(0), job.attempt(1)];
    for (const attempt of attempts) {
      await attempt.setup();
      unseen();
      await attempt.open(`unused-${attempt.task}`);
      await attempt.write(`part-${attempt.task}`, `task ${attempt.task}`);
      await attempt.write(`long-${attempt.task}`, 'sixteen bytes, a'.repeat(3) + 'tail');
      unseen();
      const { neededCommit } = { neededCommit: await daemon.client.needsTaskCommit(attempt.header) };
      expect(neededCommit.needsTaskCommit).toBe(true);
      for (const file of attempt.unfinished) await attempt.abortFile(file);
      expect(await attempt.commit()).toMatchObject({ files: '2', bytes: '58' });
      unseen();
    }
    expect(job.openUploads()).toHaveLength(4);
    expect(await daemon.client.isCommitJobRepeatable({ job: job.ref })).toEqual({ repeatable: true });
    expect(await daemon.client.isRecoverySupported({ job: job.ref })).toEqual({ supported: true });

    expect(await job.commit()).toEqual({ files: '4', bytes: '116', tasks: '2' });
    expect(job.visible()).toEqual({
      'part-0': 'task 0',
      'part-1': 'task 1',
      'long-0': 'sixteen bytes, a'.repeat(3) + 'tail',
      'long-1': 'sixteen bytes, a'.repeat(3) + 'tail',
    });
    expect(job.marker()).toBeDefined();
    await expectNothingLeft(job);
    // Kept for late calls: the plan by its hash besides.
    expect(job.staged().map((name) => name.replace(/plan-.*/, 'plan'))).toEqual([
      '0/decision.json',
      '0/job.json',
      '0/outcome.json',
      '0/plan',
    ]);
  });

  it('writes nothing outside the destination and the staging root', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    await job.commit();
    const destination = job.destination.replace(`s3a://${bucket}/`, '');
    const strangers = daemon.memory
      .objects()
      .filter(({ key }) => !key.startsWith(`${destination}/`) && !key.startsWith('.commitbridge/jobs/'));
    expect(strangers).toEqual([]);
  });

  it('commits a job without tasks and writes its marker', async () => {
    const job = newJob();
    await job.setup();
    expect(await job.commit()).toEqual({ files: '0', bytes: '0', tasks: '0' });
    expect(job.marker()).toMatch(/"files":0/);
  });

  it('commits a task without files, and does not miss one that was never committed', async () => {
    const job = newJob();
    await job.setup();
    expect(await job.attempt(0).commit()).toMatchObject({ files: '0', bytes: '0' });
    await job.attempt(1).setup();
    await job.runTask(2, { c: 'c' });
    expect(await job.commit()).toEqual({ files: '1', bytes: '1', tasks: '2' });
    expect(job.visible()).toEqual({ c: 'c' });
    await expectNothingLeft(job);
  });

  it('publishes files of zero bytes, alone and beside others (Druid 1147)', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { empty: '', full: 'full' });
    await job.runTask(1, { alone: '' });
    await job.commit();
    expect(job.visible()).toEqual({ alone: '', empty: '', full: 'full' });
  });

  it('publishes nested directories and names that need care (SPARK-19832)', async () => {
    const names = [
      'year=2024/month=01/part-0',
      'a%20b/x y',
      'p=%3A/+&=#?',
      'é/日本/😀',
      String.raw`back\slash`,
      '..hidden/...',
      'p=__HIVE_DEFAULT_PARTITION__/f',
    ];
    const job = newJob();
    await job.setup();
    await job.runTask(0, Object.fromEntries(names.map((name) => [name, name])));
    await job.commit();
    expect(job.visible()).toEqual(Object.fromEntries(names.map((name) => [name, name])));
  });

  it('takes parts of growing sizes up to the last, smaller one', async () => {
    const job = newJob();
    await job.setup();
    const content = Array.from({ length: 40 }, (_, i) => String(i).padStart(16, '.')).join('');
    await job.runTask(0, { long: `${content}tail` });
    await job.commit();
    expect(job.visible()).toEqual({ long: `${content}tail` });
  });

  it('commits many tasks at once', async () => {
    const job = newJob();
    await job.setup();
    await Promise.all(
      Array.from({ length: 40 }, (_, task) => job.runTask(task, { [`part-${task}`]: `${task}` })),
    );
    expect(await job.commit()).toMatchObject({ files: '40', tasks: '40' });
    expect(Object.keys(job.visible())).toHaveLength(40);
    await expectNothingLeft(job);
  });
});

describe('the success marker', () => {
  it('is JSON that names the committer and the job, with the fields of SuccessData', async () => {
    const job = newJob();
    await job.setup({}, { description: 'my application' });
    await job.runTask(0, { a: 'a' });
    await job.commit();
    expect(JSON.parse(job.marker() ?? '')).toMatchObject({
      name: 'org.apache.hadoop.fs.s3a.commit.files.SuccessData/1',
      success: true,
      committer: 'commitbridge',
      jobId: job.token,
      description: 'my application',
      metrics: { files: 1, bytes: 1, tasks: 1 },
      filenames: [`/${job.destination.replace(`s3a://${bucket}/`, '')}/a`],
    });
  });

  it('lists a hundred files at most (HADOOP-16570)', async () => {
    const job = newJob();
    await job.setup();
    await Promise.all(Array.from({ length: 130 }, (_, task) => job.runTask(task, { [`part-${task}`]: '' })));
    await job.commit();
    const marker = JSON.parse(job.marker() ?? '') as { filenames: string[]; metrics: { files: number } };
    expect(marker.filenames).toHaveLength(100);
    expect(marker.metrics.files).toBe(130);
  });

  it('is not written where the job says so, and the old one is removed by SetupJob all the same', async () => {
    const first = newJob();
    await first.setup();
    await first.commit();
    expect(first.marker()).toBeDefined();
    const second = newJob({ destination: first.destination });
    await second.setup({ skipSuccessMarker: true });
    expect(second.marker()).toBeUndefined();
    await second.runTask(0, { b: 'b' });
    await second.commit();
    expect(second.marker()).toBeUndefined();
    expect(second.visible()).toEqual({ b: 'b' });
  });

  it('is that of the last committer after two appends', async () => {
    const first = newJob();
    const second = newJob({ destination: first.destination });
    await first.setup();
    await second.setup();
    await first.runTask(0, { a: 'a' });
    await second.runTask(0, { b: 'b' });
    await first.commit();
    await second.commit();
    expect(second.marker()).toContain(second.token);
    expect(second.visible()).toEqual({ a: 'a', b: 'b' });
  });

  it('of another job that commits meanwhile survives a replay of SetupJob', async () => {
    const slow = newJob();
    await slow.setup();
    const fast = newJob({ destination: slow.destination });
    await fast.setup();
    await fast.commit();
    await slow.runTask(0, { a: 'a' });
    await slow.commit();
    expect(slow.marker()).toContain(slow.token);
    await expectError(slow.setup(), 'JOB_COMMITTED');
    expect(slow.marker()).toContain(slow.token);
  });
});

describe('several jobs', () => {
  it('to one destination interleave: each commits all of its own and ends nothing of the other (HADOOP-17318)', async () => {
    const one = newJob();
    const two = newJob({ destination: one.destination });
    await one.setup();
    await two.setup();
    await one.runTask(0, { 'one-0': '1' });
    const late = two.attempt(0);
    const { file } = await late.open('two-open');
    await two.runTask(1, { 'two-1': '2' });
    daemon.faults.watch();
    await one.commit();
    expect(daemon.faults.calls.filter(({ op }) => op === 'abort')).toEqual([]);
    expect(two.openUploads().sort()).toEqual(['two-1', 'two-open']);
    await late.abortFile(file!);
    await late.write('two-0', '2');
    await late.commit();
    await two.commit();
    expect(one.visible()).toEqual({ 'one-0': '1', 'two-0': '2', 'two-1': '2' });
    await expectNothingLeft(one);
    await expectNothingLeft(two);
  });

  it('to one destination: the abort of one leaves the other alone (HADOOP-18797)', async () => {
    const one = newJob();
    const two = newJob({ destination: one.destination });
    await one.setup();
    await two.setup();
    await one.runTask(0, { 'one-0': '1' });
    await two.runTask(0, { 'two-0': '2' });
    await one.abort();
    expect(two.openUploads()).toEqual(['two-0']);
    await two.commit();
    expect(two.visible()).toEqual({ 'two-0': '2' });
  });

  it('to adjacent destinations do not meet, where one name begins with the other', async () => {
    const near = newJob();
    const nearer = newJob({ destination: `${near.destination}-2` });
    await near.setup();
    await nearer.setup();
    await near.runTask(0, { a: 'near' });
    await nearer.runTask(0, { a: 'nearer' });
    await near.abort();
    await nearer.commit();
    expect(near.visible()).toEqual({});
    expect(nearer.visible()).toEqual({ a: 'nearer' });
    await expectError(
      daemon.client.openFile({
        ...newJobInside(near).attempt(0).header,
        uri: `${near.destination}-2/a`,
      }),
      'JOB_NOT_FOUND',
    );
  });

  it('of one JobID and one second, told apart by their tokens (SPARK-33402)', async () => {
    const attemptId = 'attempt_20240101000000_0000_m_000000_0';
    const one = newJob();
    const two = newJob({ destination: one.destination });
    await one.setup();
    await two.setup();
    for (const job of [one, two]) {
      const attempt = job.attempt(0, 0, attemptId);
      await attempt.write(`of-${job.token}`, 'x');
      await attempt.commit();
    }
    await one.commit();
    await two.commit();
    expect(Object.keys(one.visible()).sort()).toEqual([`of-${one.token}`, `of-${two.token}`].sort());
  });

  it('that died leave nothing that a later job to the destination publishes (SPARK-28945)', async () => {
    const dead = newJob();
    await dead.setup();
    await dead.runTask(0, { dead: 'x' });
    const next = newJob({ destination: dead.destination });
    await next.setup();
    await next.runTask(0, { next: 'y' });
    await next.commit();
    expect(next.visible()).toEqual({ next: 'y' });
    expect(dead.openUploads()).toEqual(['dead']);
    await dead.abort();
    expect(dead.openUploads()).toEqual([]);
    expect(next.visible()).toEqual({ next: 'y' });
  });

  function newJobInside(job: TestJob): TestJob {
    return newJob({ destination: job.destination });
  }
});

describe('the tokens of a call', () => {
  it('name the first job that is set up', async () => {
    const job = newJob();
    await job.setup();
    const seen = job.through(daemon.client, { tokens: ['not-set-up', job.token, 'nor-this'] });
    expect(await seen.attempt(0).setup()).toMatchObject({ token: job.token });
    await seen.runTask(0, { a: 'a' });
    await job.commit();
    expect(job.visible()).toEqual({ a: 'a' });
  });

  it('name the first that has not ended, also where the ended one was in use before', async () => {
    const old = newJob();
    const next = newJob({ destination: old.destination });
    const tokens = [old.token, next.token];
    await old.setup();
    expect(await old.through(daemon.client, { tokens }).attempt(0).setup()).toMatchObject({
      token: old.token,
    });
    await old.commit();
    await next.setup();
    const seen = old.through(daemon.client, { tokens });
    expect(await seen.attempt(0).setup()).toMatchObject({ token: next.token });
    await seen.runTask(0, { a: 'a' });
    expect(await next.commit()).toMatchObject({ files: '1' });
  });

  it('name an ended job where no other is there, so that late calls are answered as before', async () => {
    const job = newJob();
    await job.setup();
    await job.abort();
    const seen = job.through(daemon.client, { tokens: ['not-set-up', job.token] });
    await expectError(seen.runTask(0, { a: 'a' }), 'JOB_ABORTED');
  });

  it('must name a job that was set up: a task without one fails', async () => {
    const job = newJob({ tokens: ['t-1', 't-2', 't-3'] });
    await expectError(job.attempt(0).setup(), 'JOB_NOT_FOUND', /commitbridge\.job\.token/);
    await expectError(job.attempt(0).open('a'), 'JOB_NOT_FOUND');
    await expectError(job.attempt(0).commit(), 'JOB_NOT_FOUND');
    await expectError(job.commit(), 'JOB_NOT_FOUND');
  });

  it('are one to eight, and one in SetupJob', async () => {
    await expectError(newJob({ tokens: [] }).attempt(0).setup(), 'INVALID_FIELD', /1 to 8/);
    await expectError(
      newJob({ tokens: Array(9).fill('t') })
        .attempt(0)
        .setup(),
      'INVALID_FIELD',
      /1 to 8/,
    );
    await expectError(newJob({ tokens: ['t-1', 't-2'] }).setup(), 'INVALID_FIELD', /exactly one/);
  });

  it('of another destination are not found', async () => {
    const job = newJob();
    await job.setup();
    const elsewhere = job.through(daemon.client, { destination: `${job.destination}-other` });
    await expectError(elsewhere.attempt(0).setup(), 'JOB_NOT_FOUND');
  });
});
