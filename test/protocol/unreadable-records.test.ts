import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  bucket,
  closeAllDaemons,
  expectError,
  staging,
  startMemoryDaemon,
  TestJob,
  type MemoryDaemon,
} from '../support/memory-daemon/index.js';

let daemon: MemoryDaemon;
let job: TestJob;
beforeEach(async () => {
  daemon = await startMemoryDaemon();
  job = new TestJob(daemon.client, daemon.memory);
  await job.setup();
});
afterEach(closeAllDaemons);

const keyOf = (name: string): string => `${staging}/${job.token}/0/${name}`;
const damage = (name: string, body = '{"format":"commitbridge/pendingset/9"}') =>
  daemon.memory.put({ bucket, key: keyOf(name) }, Buffer.from(body), {});
const force = (isForced = true) => daemon.app.admin.abort(job.token, 'by hand', isForced);

describe('jobs abort of a job with an unreadable task record', () => {
  beforeEach(async () => {
    await job.runTask(0, { a: 'a' });
    await job.runTask(1, { b: 'b' });
  });

  it('stops without --force', async () => {
    await damage('tasks/m-000001/0');
    await expect(force(false)).rejects.toMatchObject({ reason: 'RECORD_UNREADABLE' });
    await expectError(job.abort(), 'RECORD_UNREADABLE', /m-000001/);
    // Records are read one by one: the uploads of those read before it may be aborted, and no record is removed.
    expect(job.openUploads()).toContain('b');
    await daemon.idle();
    expect(job.recordsLeft()).toEqual(expect.arrayContaining(['0/tasks/m-000000/0', '0/tasks/m-000001/0']));
  });

  it('with --force aborts the uploads of all others, names it, and leaves what it names', async () => {
    await damage('tasks/m-000001/0');
    await damage('tasks/readme.txt', 'hello');
    await damage('opened/x-00000000', 'hello');
    const forced = await force();
    expect(forced).toMatchObject({ published: false, keys: [] });
    expect(forced.unreadable).toEqual([
      expect.stringMatching(/opened\/x-00000000 .*not JSON/),
      expect.stringMatching(/tasks\/m-000001\/0 cannot be used/),
      expect.stringMatching(/tasks\/readme\.txt .*its name/),
    ]);
    expect(job.openUploads()).toEqual(['b']);
    await daemon.idle();
    expect(job.recordsLeft()).toEqual(['0/opened/x-00000000', '0/tasks/m-000001/0', '0/tasks/readme.txt']);
    expect((await daemon.app.admin.show(job.token)).state).toBe('aborted');
    await expectError(job.commit(), 'JOB_ABORTED');
    // Once a person has removed them, nothing is left.
    for (const name of job.recordsLeft()) {
      await daemon.memory.delete({ bucket, key: `${staging}/${job.token}/${name}` }, {});
    }
    expect(await force()).toEqual({ published: false, keys: [], unreadable: [] });
  });

  it('with --force rolls a half-published job back as far as it can be read', async () => {
    await job.runTask(2, { c: 'c' });
    daemon.faults.watch(({ op, key }) =>
      op === 'complete' && key.endsWith('/c') ? { fail: 'before' } : undefined,
    );
    await expectError(job.commit(), 'STORE_UNAVAILABLE');
    daemon.faults.watch();
    await damage('tasks/m-000001/0');
    const again = job.through((await startMemoryDaemon({ memory: daemon.memory })).client);
    await expectError(again.commit(), 'RECORD_UNREADABLE', /m-000001/);
    await expect(force(false)).rejects.toMatchObject({ reason: 'RECORD_UNREADABLE' });
    const { unreadable } = await force();
    expect(unreadable).toEqual([expect.stringMatching(/m-000001/)]);
    expect([job.visible(), job.openUploads()]).toEqual([{ b: 'b' }, []]);
    expect(job.fact('outcome.json')).toMatchObject({ outcome: 'rolled-back' });
  });

  it('with --force ends a job that overwrote keys, which can be finished no more', async () => {
    const next = new TestJob(daemon.client, daemon.memory, { destination: job.destination });
    await job.commit();
    job = next;
    await job.setup();
    await job.runTask(0, { a: 'new a' });
    await job.runTask(1, { b: 'new b' });
    daemon.faults.watch(({ op }) => (op === 'complete' ? { fail: 'before' } : undefined));
    await expectError(job.commit(), 'STORE_UNAVAILABLE');
    daemon.faults.watch();
    await expect(force()).rejects.toMatchObject({ reason: 'OVERWROTE_OBJECTS' });
    await damage('tasks/m-000001/0');
    const { unreadable, keys } = await force();
    expect(unreadable).toEqual([expect.stringMatching(/m-000001/)]);
    expect(keys).toEqual([{ uri: `${job.destination}/a`, fate: 'foreign', overwrote: true }]);
    expect([job.visible(), job.openUploads()]).toEqual([{ a: 'a', b: 'b' }, ['b']]);
  });
});

describe('a job.json that the store gives back garbled', () => {
  it.each([
    ['as no JSON', () => '<html>hello</html>'],
    ['as nothing', () => ''],
    ['cut', (text: string) => text.slice(0, text.length / 2)],
    ['without its destination', (text: string) => text.replace(/"destination":"[^"]*"/, '"destination":""')],
    ['as another job’s', (text: string) => text.replace(/"token":"[^"]*"/, '"token":"other"')],
  ])('%s stops every call with a sentence, and harms nothing', async (_, garble) => {
    await job.runTask(0, { a: 'a' });
    const stored = await daemon.memory.get({ bucket, key: keyOf('job.json') });
    const whole = Buffer.from(stored?.body ?? '').toString();
    await damage('job.json', garble(whole));
    const other = await startMemoryDaemon({ memory: daemon.memory });
    const there = job.through(other.client);
    const attempt = there.attempt(1);
    for (const call of [
      () => attempt.open('b'),
      () => attempt.commit(),
      () => there.commit(),
      () => there.abort(),
    ]) {
      await expectError(call(), 'RECORD_UNREADABLE', /job\.json cannot be used/);
    }
    await damage('job.json', whole);
    await there.commit();
    expect(job.visible()).toEqual({ a: 'a' });
  });
});
