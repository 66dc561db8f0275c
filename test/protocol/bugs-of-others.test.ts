import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  bucket,
  closeAllDaemons,
  expectError,
  startMemoryDaemon,
  TestJob,
  type MemoryDaemon,
} from '../support/memory-daemon/index.js';

/**
 * Faults that other committers had, by the names under which they were reported, where no other test is about them.
 * docs/bugs-of-others.md has all of them.
 */
let daemon: MemoryDaemon;
beforeEach(async () => {
  daemon = await startMemoryDaemon();
});
afterEach(closeAllDaemons);

const newJob = (options = {}) => new TestJob(daemon.client, daemon.memory, options);

/** A destination as a reader lists it, with the marker and whatever else is there. */
function everythingBelow(job: TestJob): string[] {
  const prefix = job.destination.replace(`s3a://${bucket}/`, '');
  return daemon.memory
    .objects(bucket)
    .filter(({ key }) => key === prefix || key.startsWith(`${prefix}/`))
    .map(({ key }) => key.slice(prefix.length + 1));
}

describe('identity', () => {
  it('SPARK-33230: a task of a job that no driver set up is refused, and a job without a name too', async () => {
    const job = newJob();
    await expectError(job.attempt(0).setup(), 'JOB_NOT_FOUND', /setupJob/);
    await expectError(job.attempt(0).commit(), 'JOB_NOT_FOUND', /commitbridge\.job\.token/);
    await expectError(newJob({ tokens: [] }).setup(), 'INVALID_FIELD', /job\.tokens/);
    expect(daemon.memory.objects()).toEqual([]);
  });

  it('SPARK-24238: two inserts into different partitions of one table at once are both whole', async () => {
    const jobs = [newJob(), newJob()];
    const destination = jobs[0]!.destination;
    const inserts = jobs.map((job) => job.through(daemon.client, { destination }));
    await Promise.all(
      inserts.map(async (insert, i) => {
        await insert.setup();
        await Promise.all([0, 1, 2].map((task) => insert.runTask(task, { [`p=${i}/part-${task}`]: 'row' })));
        await insert.commit();
      }),
    );
    const parts = [0, 1].flatMap((p) => [0, 1, 2].map((task) => `p=${p}/part-${task}`));
    expect(Object.keys(inserts[0]!.visible())).toEqual(parts);
  });
});

describe('task commit', () => {
  it('SPARK-39195: an executor that dies after its commit, before its report, is replaced by the rerun', async () => {
    const job = newJob();
    await job.setup();
    const executor = daemon.connect();
    const first = job.through(executor).attempt(0, 0);
    await first.write('part-0-of-a', 'rows');
    await first.commit();
    executor.close();
    await job.runTask(0, { 'part-0-of-b': 'rows' }, 1);
    await job.commit();
    expect([job.visible(), job.openUploads()]).toEqual([{ 'part-0-of-b': 'rows' }, []]);
  });

  it('SPARK-24589: two stage attempts that commit a task at once have one winner each time', async () => {
    const job = newJob();
    await job.setup();
    const tasks = Array.from({ length: 30 }, (_, task) => task);
    await Promise.all(
      tasks.flatMap((task) =>
        [0, 65_536].map((number) => job.runTask(task, { [`part-${task}`]: `stage ${number}` }, number)),
      ),
    );
    expect(await job.commit()).toMatchObject({ tasks: '30', files: '30' });
    expect(new Set(Object.values(job.visible()))).toEqual(new Set(['stage 65536']));
    expect(job.openUploads()).toEqual([]);
  });

  it('SPARK-10063: nothing at all is below the destination at any step before commitJob', async () => {
    const job = newJob();
    const seen: string[][] = [];
    const look = () => seen.push(everythingBelow(job));
    await job.setup();
    look();
    for (const number of [0, 1]) {
      const attempt = job.attempt(0, number);
      await attempt.setup();
      look();
      await attempt.open('never-closed');
      look();
      await attempt.write('part-0', 'rows');
      look();
      if (number === 0) await attempt.abort();
      else await attempt.commit();
      look();
    }
    expect(seen).toEqual(Array.from({ length: 9 }, () => []));
    await job.commit();
    expect(everythingBelow(job)).toEqual(['_SUCCESS', 'part-0']);
  });

  it('SPARK-36147: a task that wrote nothing may commit or not, and the job commits', async () => {
    const job = newJob();
    await job.setup();
    const silent = job.attempt(0);
    expect(await daemon.client.needsTaskCommit(silent.header)).toEqual({ needsTaskCommit: true });
    expect(await silent.commit()).toMatchObject({ files: '0', bytes: '0' });
    await job.attempt(1).setup();
    expect(await job.commit()).toMatchObject({ files: '0' });
    expect(everythingBelow(job)).toEqual(['_SUCCESS']);
  });

  it('HADOOP-19047: an attempt is aborted by a process that wrote none of its files', async () => {
    const job = newJob();
    await job.setup();
    const writer = job.attempt(0);
    await writer.write('part-0', 'rows');
    const master = await startMemoryDaemon({ memory: daemon.memory });
    await job.through(master.client).attempt(0, 0, writer.id).abort([]);
    await expectError(writer.commit(), 'ATTEMPT_ABORTED');
    await daemon.app.close();
    await job.through(master.client).commit();
    expect([job.visible(), job.openUploads()]).toEqual([{}, []]);
  });
});

describe('job commit', () => {
  it('SPARK-35279: a dynamic overwrite writes the marker at the destination', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { 'p=1/old': 'old', 'p=2/old': 'old' });
    await job.commit();
    const dynamic = newJob({ destination: job.destination });
    await dynamic.setup({
      conflictMode: 'CONFLICT_MODE_REPLACE',
      conflictScope: 'CONFLICT_SCOPE_PARTITIONS',
    });
    await dynamic.runTask(0, { 'p=1/new': 'new' });
    await dynamic.commit();
    expect(dynamic.visible()).toEqual({ 'p=1/new': 'new', 'p=2/old': 'old' });
    expect(dynamic.marker()).toContain(dynamic.token);
  });

  it('HADOOP-18568: commitJob does not wait for the removal of what it needs no more', async () => {
    const job = newJob();
    await job.setup();
    for (const task of [0, 1, 2]) await job.runTask(task, { [`part-${task}`]: 'rows' });
    let release: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (release = resolve));
    daemon.faults.watch(({ op }) => (op === 'deleteMany' ? { hold: 'before', until } : undefined));
    expect(await job.commit()).toMatchObject({ files: '3' });
    await daemon.faults.reached(({ op }) => op === 'deleteMany');
    expect(job.recordsLeft()).toHaveLength(3);
    release();
    await daemon.idle();
    expect(job.recordsLeft()).toEqual([]);
  });

  it.each(['commit', 'abort'] as const)('HADOOP-18793: no pending state is left after %sJob', async (end) => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    await job.runTask(0, { b: 'b' }, 1);
    await job.attempt(1).open('never-closed');
    await job[end]();
    await daemon.idle();
    expect([job.recordsLeft(), job.openUploads().filter((name) => name !== 'never-closed')]).toEqual([
      [],
      [],
    ]);
  });

  it('hadoop-tos: abortJob aborts the uploads of committed tasks, which are open at the final keys', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { 'deep/er/part-0': 'rows' });
    expect(job.openUploads()).toEqual(['deep/er/part-0']);
    await job.abort();
    expect(job.openUploads()).toEqual([]);
  });
});

describe('the destination', () => {
  it('readers that hide no names: a job that failed leaves no key at all below the destination', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    await job.attempt(1).write('b', 'b');
    await job.abort({ reason: 'a task failed' });
    expect(everythingBelow(job)).toEqual([]);
  });

  it('versioned buckets: each file and the marker are written once, and nothing below is deleted', async () => {
    const job = newJob();
    daemon.faults.watch();
    await job.setup();
    for (const task of [0, 1]) await job.runTask(task, { [`part-${task}`]: 'rows' });
    await job.runTask(0, { 'part-0': 'rows' }, 1);
    await job.commit();
    await daemon.idle();
    const path = job.destination.replace(`s3a://${bucket}/`, '');
    const changes = daemon.faults.calls.filter(
      ({ op, key }) =>
        key.startsWith(`${path}/`) && ['put', 'sendPut', 'complete', 'delete', 'sendDelete'].includes(op),
    );
    expect(changes.map(({ op, key }) => `${op} ${key.slice(path.length + 1)}`).sort()).toEqual([
      'complete part-0',
      'complete part-1',
      'sendPut _SUCCESS',
    ]);
    expect(daemon.faults.calls.filter(({ op, key }) => op === 'deleteMany' && key.startsWith(path))).toEqual(
      [],
    );
  });
});
