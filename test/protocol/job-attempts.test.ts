import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  bucket,
  closeAllDaemons,
  expectError,
  killAt,
  staging,
  startMemoryDaemon,
  TestJob,
  type MemoryDaemon,
} from '../support/memory-daemon/index.js';

let daemon: MemoryDaemon;
let first: TestJob;
beforeEach(async () => {
  daemon = await startMemoryDaemon();
  first = new TestJob(daemon.client, daemon.memory, { jobAttempt: 1 });
});
afterEach(closeAllDaemons);

async function expectEnd(job: TestJob, visible: Record<string, string>): Promise<void> {
  await daemon.idle();
  expect(job.visible()).toEqual(visible);
  expect(job.openUploads()).toEqual([]);
  expect(job.recordsLeft()).toEqual([]);
}

/** A job attempt that decided for commit and whose daemon died before its second Complete. */
async function halfPublished(job: TestJob, files = { a: 'a', b: 'b', c: 'c' }): Promise<void> {
  const doomed = await startMemoryDaemon({ memory: daemon.memory, completeConcurrency: 1 });
  const seen = job.through(doomed.client);
  await seen.runTask(0, files);
  let completes = 0;
  doomed.faults.watch(({ op }) => (op === 'complete' && ++completes > 1 ? { kill: 'before' } : undefined));
  const call = seen.commit();
  call.catch(() => undefined);
  await doomed.faults.reached(() => completes > 1);
  doomed.kill();
}

describe('SetupJob', () => {
  it('replayed with the same setup id and arguments is OK until the end', async () => {
    await first.setup({}, { description: 'd' });
    await first.setup({}, { description: 'd' });
    await first.runTask(0, { a: 'a' });
    await first.setup({}, { description: 'd' });
    await first.commit();
    expect(first.visible()).toEqual({ a: 'a' });
    await expectError(first.setup({}, { description: 'd' }), 'JOB_COMMITTED');
  });

  it('of another driver under the same token is refused and names the way out', async () => {
    await first.setup();
    const other = first.through(daemon.client, { setupId: 'another-driver' });
    await expectError(other.setup(), 'JOB_EXISTS', /commitbridge jobs abort/);
    await expectError(first.setup({ skipSuccessMarker: true }), 'JOB_EXISTS', /other arguments/);
    await expectError(first.setup({}, { description: 'other' }), 'JOB_EXISTS');
    const elsewhere = first.through(daemon.client, { destination: `${first.destination}-b` });
    await expectError(elsewhere.setup(), 'JOB_EXISTS');
  });

  it('of two drivers at once: one wins', async () => {
    const drivers = ['one', 'two', 'three'].map((setupId) => first.through(daemon.client, { setupId }));
    const results = await Promise.allSettled(drivers.map((driver) => driver.setup()));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('of a token that was used up is refused', async () => {
    await first.setup();
    await first.abort({ reason: 'KILLED' });
    await expectError(first.through(daemon.client, { setupId: 'new' }).setup(), 'JOB_ABORTED', /KILLED/);
    const committed = new TestJob(daemon.client, daemon.memory);
    await committed.setup();
    await committed.commit();
    await expectError(committed.through(daemon.client, { setupId: 'new' }).setup(), 'JOB_COMMITTED');
  });

  it('asks for a protocol version that both speak, and for what the store can do', async () => {
    await expectError(first.setup({}, { protocolVersion: 99 }), 'UNSUPPORTED', /99/);
    await expectError(first.setup({}, { protocolVersion: 0 }), 'UNSUPPORTED');
    const poor = await startMemoryDaemon({ capabilities: { conditionalPut: false } });
    await expectError(first.through(poor.client).setup(), 'UNSUPPORTED', /roots\[\]\.staging/);
    expect(first.staged()).toEqual([]);
  });
});

describe('a later job attempt', () => {
  it('supersedes an undecided one: late calls of that are refused', async () => {
    await first.setup();
    const zombie = first.attempt(0);
    await zombie.write('z', 'z');
    const second = first.nextAttempt();
    await second.setup();
    await expectError(zombie.commit(), 'JOB_SUPERSEDED');
    await expectError(first.commit(), 'JOB_SUPERSEDED');
    await expectError(first.abort(), 'JOB_SUPERSEDED');
    await expectError(first.setup(), 'JOB_SUPERSEDED');
    await second.runTask(0, { a: 'a' });
    await second.commit();
    await expectEnd(second, { a: 'a' });
  });

  it('publishes its own output only, where nothing was recovered', async () => {
    await first.setup();
    await first.runTask(0, { old: 'old' });
    const second = first.nextAttempt();
    await second.setup();
    await second.runTask(0, { new: 'new' });
    await second.commit();
    await expectEnd(second, { new: 'new' });
  });

  it('supersedes all below it, set up or not', async () => {
    await first.setup();
    const fourth = first.nextAttempt(3);
    await fourth.setup();
    for (const late of [first.nextAttempt(1), first.nextAttempt(2)]) {
      await expectError(late.setup(), 'JOB_SUPERSEDED');
    }
    await fourth.commit();
  });

  it('begins anew after one that was aborted', async () => {
    await first.setup();
    await first.runTask(0, { old: 'old' });
    await first.abort();
    const second = first.nextAttempt();
    await second.setup();
    await second.runTask(0, { new: 'new' });
    await second.commit();
    await expectEnd(second, { new: 'new' });
  });

  it('adopts the commit of one that died in publication and rolls it forward', async () => {
    await first.setup();
    await halfPublished(first);
    expect(Object.keys(first.visible())).toHaveLength(1);
    const second = first.nextAttempt();
    await second.setup();
    expect(second.fact('job.json')).toMatchObject({ adopts: 1 });
    await second.runTask(0, { rerun: 'rerun' });
    expect(await second.commit()).toEqual({ files: '3', bytes: '3', tasks: '1' });
    await expectEnd(second, { a: 'a', b: 'b', c: 'c' });
    expect(second.fact('decision.json')).toBeUndefined();
    expect(first.marker()).toContain(first.token);
  });

  it('adopts through another one that had adopted', async () => {
    await first.setup();
    await halfPublished(first);
    await first.nextAttempt().setup();
    const third = first.nextAttempt(2);
    await third.setup();
    expect(third.fact('job.json')).toMatchObject({ adopts: 1 });
    await third.commit();
    await expectEnd(third, { a: 'a', b: 'b', c: 'c' });
  });

  it('that adopted fails where the commit was rolled back meanwhile, and the next one begins anew', async () => {
    await first.setup();
    await halfPublished(first);
    const second = first.nextAttempt();
    await second.setup();
    expect(await first.abort({ reason: 'by AM 1' })).toEqual({ published: false });
    await expectError(second.commit(), 'JOB_ABORTED', /by AM 1/);
    expect(first.visible()).toEqual({});
    const third = first.nextAttempt(2);
    await third.setup();
    await third.runTask(0, { a: 'third' });
    await third.commit();
    await expectEnd(third, { a: 'third' });
  });

  it('that adopted never decides by its own number, though the adopted decision is gone', async () => {
    await first.setup();
    await first.runTask(0, { a: 'a' });
    await first.commit();
    const second = first.nextAttempt();
    await second.setup();
    await second.runTask(0, { again: 'again' });
    for (const name of ['outcome.json', 'decision.json']) {
      await daemon.memory.delete({ bucket, key: `${staging}/${first.token}/1/${name}` }, {});
    }
    await expectError(second.commit(), 'RECORD_UNREADABLE');
    expect(second.fact('decision.json')).toBeUndefined();
    expect(second.visible()).toEqual({ a: 'a' });
  });

  it('finishes a rollback that was left half-way before it begins', async () => {
    await first.setup();
    await halfPublished(first);
    const doomed = await startMemoryDaemon({ memory: daemon.memory });
    let deletes = 0;
    doomed.faults.watch(({ op }) => (op === 'delete' && ++deletes > 0 ? { kill: 'before' } : undefined));
    first
      .through(doomed.client)
      .abort()
      .catch(() => undefined);
    await doomed.faults.reached(() => deletes > 0);
    doomed.kill();
    expect(Object.keys(first.visible())).toHaveLength(1);
    const second = first.nextAttempt();
    await second.setup();
    expect(first.visible()).toEqual({});
    expect(first.fact('outcome.json')).toMatchObject({ outcome: 'rolled-back' });
    await second.runTask(0, { a: 'a' });
    await second.commit();
    await expectEnd(second, { a: 'a' });
  });
});

describe('RecoverTask', () => {
  it('carries a committed attempt over, of which the first attempt of the job knew nothing more', async () => {
    await first.setup();
    const done = await first.runTask(0, { 'part-0': 'first' });
    const lost = first.attempt(1);
    await lost.write('part-1', 'half');
    const second = first.nextAttempt();
    await second.setup();
    await second.recover(done);
    await second.recover(done);
    await Promise.all([second.recover(done), second.recover(done)]);
    await expectError(second.recover(lost), 'ATTEMPT_NOT_FOUND', /no record/);
    await second.runTask(1, { 'part-1': 'second' }, 1);
    expect(await second.commit()).toMatchObject({ files: '2', tasks: '2' });
    await lost.abort([]).catch(() => undefined);
    await daemon.idle();
    expect(second.visible()).toEqual({ 'part-0': 'first', 'part-1': 'second' });
    expect(second.openUploads()).toEqual(['part-1']);
  });

  it('from the third run recovers what the second had recovered', async () => {
    await first.setup();
    const done = await first.runTask(0, { a: 'a' });
    const second = first.nextAttempt();
    await second.setup();
    await second.recover(done);
    const third = first.nextAttempt(2);
    await third.setup();
    await third.recover(done);
    await third.commit();
    await expectEnd(third, { a: 'a' });
  });

  it('of the first job attempt finds nothing', async () => {
    const zero = new TestJob(daemon.client, daemon.memory);
    await zero.setup();
    await expectError(zero.recover(zero.attempt(0)), 'ATTEMPT_NOT_FOUND');
  });

  it('before SetupJob of the new attempt is refused', async () => {
    await first.setup();
    const done = await first.runTask(0, { a: 'a' });
    await expectError(first.nextAttempt().recover(done), 'JOB_NOT_FOUND');
  });

  it('of an attempt that the framework knows to have succeeded, without a record, is OK', async () => {
    await first.setup();
    const second = first.nextAttempt();
    await second.setup();
    await expectError(second.recover(first.attempt(0)), 'ATTEMPT_NOT_FOUND');
    await second.recover(first.attempt(0), true);
    await second.commit();
    await expectEnd(second, {});
  });

  it('finds nothing where the attempt before was never set up, though the framework knows a success', async () => {
    await first.setup();
    const done = await first.runTask(0, { a: 'a' });
    const third = first.nextAttempt(2);
    await third.setup();
    await expectError(third.recover(done, true), 'ATTEMPT_NOT_FOUND', /never set up/);
    await third.runTask(0, { a: 'third' });
    await third.commit();
    await expectEnd(third, { a: 'third' });
  });

  it('finds nothing where the attempt before had adopted a commit that was rolled back', async () => {
    await first.setup();
    await halfPublished(first);
    const second = first.nextAttempt();
    await second.setup();
    const rerun = await second.runTask(0, { rerun: 'x' });
    await first.abort();
    const third = first.nextAttempt(2);
    await third.setup();
    await expectError(third.recover(rerun, true), 'ATTEMPT_NOT_FOUND', /rolled back/);
    await third.commit();
    await expectEnd(third, {});
  });

  it('of an aborted attempt finds nothing', async () => {
    await first.setup();
    const done = await first.runTask(0, { a: 'a' });
    await done.abort();
    const second = first.nextAttempt();
    await second.setup();
    await expectError(second.recover(done, true), 'ATTEMPT_NOT_FOUND', /aborted/);
  });

  it('of another attempt id under that number finds nothing', async () => {
    await first.setup();
    await first.runTask(0, { a: 'a' });
    const second = first.nextAttempt();
    await second.setup();
    await expectError(second.recover(first.attempt(0, 0, 'other'), true), 'ATTEMPT_NOT_FOUND');
  });

  it('under an adopted commit is OK for what that lists, and for nothing else', async () => {
    await first.setup();
    await halfPublished(first);
    const second = first.nextAttempt();
    await second.setup();
    const listed = JSON.parse(planLine(first)) as { winner: { attempt: { id: string } } };
    await second.recover(first.attempt(0, 0, listed.winner.attempt.id));
    await expectError(second.recover(first.attempt(1), true), 'ATTEMPT_NOT_FOUND', /without it/);
    await second.commit();
    await expectEnd(second, { a: 'a', b: 'b', c: 'c' });
  });

  function planLine(job: TestJob): string {
    const found = daemon.memory.objects(bucket).find(({ key }) => key.includes(`${job.token}/1/plan-`))!;
    return Buffer.from(found.body).toString().split('\n')[1]!;
  }
});

describe('AbortJob', () => {
  it('aborts every upload of the job, twice over, and the job stays aborted', async () => {
    await first.setup();
    await first.runTask(0, { a: 'a', b: 'b' });
    expect(await first.abort({ reason: 'FAILED' })).toEqual({ published: false });
    expect(await first.abort()).toEqual({ published: false });
    await expectError(first.commit(), 'JOB_ABORTED', /FAILED/);
    await expectError(first.attempt(1).commit(), 'JOB_ABORTED');
    await expectEnd(first, {});
    expect(first.marker()).toBeUndefined();
  });

  it('after success says that the output is published, and leaves it', async () => {
    await first.setup();
    await first.runTask(0, { a: 'a' });
    await first.commit();
    expect(await first.abort({ reason: 'KILLED' })).toEqual({ published: true });
    expect(await first.commit()).toEqual({ files: '1', bytes: '1', tasks: '1' });
    await expectEnd(first, { a: 'a' });
    expect(first.marker()).toBeDefined();
  });

  it('of an unknown job is OK, and a late SetupJob is refused', async () => {
    expect(await first.abort()).toEqual({ published: false });
    await expectError(first.setup(), 'JOB_ABORTED');
    await expectError(first.attempt(0).setup(), 'JOB_NOT_FOUND');
  });

  it('of a later number ends all before it', async () => {
    await first.setup();
    await first.runTask(0, { a: 'a' });
    const third = first.nextAttempt(2);
    await third.abort();
    await expectError(first.commit(), 'JOB_ABORTED');
    await expectError(first.nextAttempt(1).setup(), 'JOB_ABORTED');
    await expectEnd(first, {});
  });

  it('with scope EARLIER_ATTEMPTS ends those before and lets the caller set up (an AM without recovery)', async () => {
    await first.setup();
    await first.runTask(0, { old: 'old' });
    const second = first.nextAttempt();
    await second.abort({ scope: 'ABORT_SCOPE_EARLIER_ATTEMPTS' });
    await expectError(first.commit(), 'JOB_ABORTED');
    await second.setup();
    await second.runTask(0, { new: 'new' });
    await second.commit();
    await expectEnd(second, { new: 'new' });
  });

  it('with scope EARLIER_ATTEMPTS of the first attempt does nothing', async () => {
    const zero = new TestJob(daemon.client, daemon.memory);
    expect(await zero.abort({ scope: 'ABORT_SCOPE_EARLIER_ATTEMPTS' })).toEqual({ published: false });
    await zero.setup();
    await zero.commit();
  });

  it('of an attempt that adopted a half-published commit rolls that back', async () => {
    await first.setup();
    await halfPublished(first);
    const second = first.nextAttempt();
    await second.setup();
    expect(await second.abort({ reason: 'by AM 2' })).toEqual({ published: false });
    expect(second.fact('decision.json')).toMatchObject({ decision: 'abort' });
    await expectError(second.commit(), 'JOB_ABORTED');
    await expectEnd(second, {});
  });

  it('of an attempt that adopted a finished commit leaves it', async () => {
    await first.setup();
    await first.runTask(0, { a: 'a' });
    await first.commit();
    const second = first.nextAttempt();
    await second.setup();
    expect(await second.abort()).toEqual({ published: true });
    expect(second.visible()).toEqual({ a: 'a' });
    expect(second.fact('decision.json')).toBeUndefined();
  });

  it('before the publication said so finishes one whose files are all there (the publisher died after `published`)', async () => {
    await first.setup();
    await first.runTask(0, { a: 'a' });
    const doomed = await startMemoryDaemon({ memory: daemon.memory });
    doomed.faults.watch(({ op, key }) =>
      op === 'put' && key.endsWith('outcome.json') ? { kill: 'after' } : undefined,
    );
    first
      .through(doomed.client)
      .commit()
      .catch(() => undefined);
    await doomed.faults.reached(({ op, key }) => op === 'put' && key.endsWith('outcome.json'));
    await new Promise((resolve) => setTimeout(resolve, 10));
    doomed.kill();
    expect(first.fact('outcome.json')).toMatchObject({ outcome: 'published' });
    expect(first.marker()).toBeUndefined();
    expect(await first.abort()).toEqual({ published: true });
    expect(first.marker()).toBeDefined();
    expect(first.fact('outcome.json')).toMatchObject({ outcome: 'done' });
    await expectEnd(first, { a: 'a' });
  });

  it('rolls back a publication that stopped half-way, and its job attempt is over', async () => {
    await first.setup();
    await halfPublished(first);
    expect(Object.keys(first.visible())).toHaveLength(1);
    expect(await first.abort()).toEqual({ published: false });
    expect(await first.abort()).toEqual({ published: false });
    await expectError(first.commit(), 'JOB_ABORTED');
    await expectError(first.setup(), 'JOB_ABORTED');
    await expectEnd(first, {});
  });
});

describe('a daemon killed', () => {
  it('at the nth request of CommitJob: the next daemon finishes it, with one marker and no duplicate', async () => {
    for (let n = 1; ; n++) {
      const job = new TestJob(daemon.client, daemon.memory);
      await job.setup();
      await job.runTask(0, { a: 'a', b: 'b' });
      await job.runTask(1, { c: 'c' }, 0);
      await job.runTask(1, { c: 'C' }, 1);
      const doomed = await startMemoryDaemon({ memory: daemon.memory, completeConcurrency: 1 });
      doomed.faults.watch(killAt(n, n % 2 === 0 ? 'before' : 'after'));
      const call = job
        .through(doomed.client)
        .commit()
        .then(
          () => 'answered' as const,
          () => 'failed' as const,
        );
      const end = await Promise.race([
        call,
        doomed.faults.reached(({ index }) => index === n).then(() => 'killed' as const),
      ]);
      await new Promise((resolve) => setTimeout(resolve, 5));
      doomed.kill();
      if (end === 'answered') break;
      await job.commit();
      await expectEnd(job, { a: 'a', b: 'b', c: 'C' });
      expect(job.marker()).toBeDefined();
      expect(n).toBeLessThan(100);
    }
  });
});
