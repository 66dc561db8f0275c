import { afterEach, describe, expect, it } from 'vitest';
import {
  closeAllDaemons,
  newMemoryStore,
  RpcError,
  startMemoryDaemon,
  TestJob,
  type MemoryDaemon,
  type When,
} from '../support/memory-daemon/index.js';

afterEach(closeAllDaemons);

const mostRequests = 120;
const all = { a: 'a', b: 'b', c: 'later' };

async function prepare(daemon: MemoryDaemon): Promise<TestJob> {
  const job = new TestJob(daemon.client, daemon.memory);
  await job.setup();
  await job.runTask(0, { a: 'a', b: 'b' });
  await job.runTask(1, { c: 'earlier' }, 0);
  await job.runTask(1, { c: 'later' }, 1);
  return job;
}

interface Answer {
  readonly reply?: unknown;
  readonly reason?: string;
}

function answerOf(call: Promise<unknown>): Promise<Answer> {
  return call.then(
    (reply) => ({ reply }),
    (error: unknown) => {
      if (!(error instanceof RpcError)) throw error;
      return { reason: error.reason };
    },
  );
}

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** All of the job's files or none, as both answers say, and nothing left over. */
async function expectAllOrNone(
  daemons: readonly MemoryDaemon[],
  job: TestJob,
  commit: Answer,
  abort: Answer,
): Promise<'all' | 'none'> {
  for (const daemon of daemons) await daemon.idle();
  const visible = job.visible();
  expect(job.openUploads()).toEqual([]);
  if (Object.keys(visible).length > 0) {
    expect(visible).toEqual(all);
    expect(abort.reply).toEqual({ published: true });
    expect(commit.reply).toEqual({ files: '3', bytes: '7', tasks: '2' });
    expect(job.marker()).toBeDefined();
    return 'all';
  }
  expect(abort.reply).toEqual({ published: false });
  expect(commit.reason).toBe('JOB_ABORTED');
  expect(job.marker()).toBeUndefined();
  return 'none';
}

describe('AbortJob overlapping CommitJob', () => {
  it.each([
    ['one daemon', 'before'],
    ['one daemon', 'after'],
    ['two daemons', 'before'],
    ['two daemons', 'after'],
  ] as const)(
    'on %s, at each request of the commit held %s its effect: all or none',
    async (where, when: When) => {
      const ends = new Set<string>();
      for (let n = 1; ; n++) {
        const memory = newMemoryStore();
        const committer = await startMemoryDaemon({ memory, completeConcurrency: 1 });
        const aborter = where === 'one daemon' ? committer : await startMemoryDaemon({ memory });
        const job = await prepare(committer);
        const held = gate();
        committer.faults.watch(({ index }) => (index === n ? { hold: when, until: held.opened } : undefined));
        const committing = answerOf(job.commit());
        const isHeld = await Promise.race([
          committer.faults.reached(({ index }) => index === n).then(() => true),
          committing.then(() => false),
        ]);
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (!isHeld) committer.faults.watch();
        const abort = await answerOf(job.through(aborter.client).abort());
        held.open();
        const commit = await committing;
        ends.add(await expectAllOrNone([committer, aborter], job, commit, abort));
        await closeAllDaemons();
        if (!isHeld) break;
        expect(n).toBeLessThan(mostRequests);
      }
      // Else the loop did not reach both sides of the decision.
      expect([...ends].sort()).toEqual(['all', 'none']);
    },
  );

  it.each(['before', 'after'] as const)(
    'at each request of the abort held %s its effect: all or none',
    async (when: When) => {
      for (let n = 1; ; n++) {
        const memory = newMemoryStore();
        const aborter = await startMemoryDaemon({ memory });
        const committer = await startMemoryDaemon({ memory, completeConcurrency: 1 });
        const job = await prepare(committer);
        const held = gate();
        aborter.faults.watch(({ index }) => (index === n ? { hold: when, until: held.opened } : undefined));
        const aborting = answerOf(job.through(aborter.client).abort());
        const isHeld = await Promise.race([
          aborter.faults.reached(({ index }) => index === n).then(() => true),
          aborting.then(() => false),
        ]);
        await new Promise((resolve) => setTimeout(resolve, 1));
        const commit = await answerOf(job.commit());
        held.open();
        const abort = await aborting;
        await expectAllOrNone([committer, aborter], job, commit, abort);
        await closeAllDaemons();
        if (!isHeld) break;
        expect(n).toBeLessThan(mostRequests);
      }
    },
  );

  it('of a half-published job, at each request of the rollback held: the commit that goes on meanwhile does not mix', async () => {
    for (let n = 1; ; n++) {
      const memory = newMemoryStore();
      const aborter = await startMemoryDaemon({ memory });
      const committer = await startMemoryDaemon({ memory, completeConcurrency: 1 });
      const job = await prepare(committer);
      let completes = 0;
      committer.faults.watch(({ op }) =>
        op === 'complete' && ++completes > 1 ? { fail: 'before' } : undefined,
      );
      await job.commit().catch(() => undefined);
      committer.faults.watch();
      const held = gate();
      aborter.faults.watch(({ index }) => (index === n ? { hold: 'before', until: held.opened } : undefined));
      const aborting = answerOf(job.through(aborter.client).abort());
      const isHeld = await Promise.race([
        aborter.faults.reached(({ index }) => index === n).then(() => true),
        aborting.then(() => false),
      ]);
      const commit = await answerOf(job.commit());
      held.open();
      await expectAllOrNone([committer, aborter], job, commit, await aborting);
      await closeAllDaemons();
      if (!isHeld) break;
      expect(n).toBeLessThan(mostRequests);
    }
  });
});

describe('CommitJob twice at once', () => {
  it('on one daemon: the second joins the first', async () => {
    const daemon = await startMemoryDaemon();
    const job = await prepare(daemon);
    daemon.faults.watch();
    const replies = await Promise.all([job.commit(), job.commit(), job.commit()]);
    expect(replies).toEqual(Array(3).fill({ files: '3', bytes: '7', tasks: '2' }));
    expect(daemon.faults.calls.filter(({ op }) => op === 'complete')).toHaveLength(3);
    expect(job.visible()).toEqual(all);
  });

  it('on two daemons, at each request of one held: both answer alike and publish the same', async () => {
    for (let n = 1; ; n++) {
      const memory = newMemoryStore();
      const one = await startMemoryDaemon({ memory, completeConcurrency: 1 });
      const two = await startMemoryDaemon({ memory });
      const job = await prepare(one);
      const held = gate();
      one.faults.watch(({ index }) => (index === n ? { hold: 'before', until: held.opened } : undefined));
      const slow = answerOf(job.commit());
      const isHeld = await Promise.race([
        one.faults.reached(({ index }) => index === n).then(() => true),
        slow.then(() => false),
      ]);
      const fast = await answerOf(job.through(two.client).commit());
      await two.idle();
      held.open();
      const expected = { reply: { files: '3', bytes: '7', tasks: '2' } };
      expect([n, await slow, fast]).toEqual([n, expected, expected]);
      await one.idle();
      expect(job.visible()).toEqual(all);
      expect(job.openUploads()).toEqual([]);
      expect(job.recordsLeft()).toEqual([]);
      await closeAllDaemons();
      if (!isHeld) break;
      expect(n).toBeLessThan(mostRequests);
    }
  });

  it('survives its client: the publication goes on when that has gone', async () => {
    const daemon = await startMemoryDaemon({ completeConcurrency: 1 });
    const job = await prepare(daemon);
    const held = gate();
    daemon.faults.watch(({ op }) => (op === 'complete' ? { hold: 'before', until: held.opened } : undefined));
    const client = daemon.connect();
    job
      .through(client)
      .commit()
      .catch(() => undefined);
    await daemon.faults.reached(({ op }) => op === 'complete');
    client.close();
    held.open();
    await expect.poll(() => job.fact('outcome.json')).toMatchObject({ outcome: 'done' });
    expect(job.visible()).toEqual(all);
  });
});

describe('CommitTask overlapping the end of the job', () => {
  it.each(['commit', 'abort'] as const)(
    'by %s, held at each of its requests: it is OK only where it is published',
    async (end) => {
      for (let n = 1; n <= 2; n++) {
        for (const when of ['before', 'after'] as const) {
          const memory = newMemoryStore();
          const executor = await startMemoryDaemon({ memory });
          const driver = await startMemoryDaemon({ memory });
          const job = await prepare(executor);
          const attempt = job.attempt(7);
          await attempt.write('late', 'late');
          const held = gate();
          executor.faults.watch(({ index }) =>
            index === n ? { hold: when, until: held.opened } : undefined,
          );
          const committing = answerOf(attempt.commit());
          await executor.faults.reached(({ index }) => index === n);
          await new Promise((resolve) => setTimeout(resolve, 1));
          await job.through(driver.client)[end]();
          await driver.idle();
          held.open();
          const { reply } = await committing;
          expect([n, when, 'late' in job.visible()]).toEqual([
            n,
            when,
            reply !== undefined && end === 'commit',
          ]);
          expect(job.openUploads()).toEqual([]);
          await executor.idle();
          expect(job.recordsLeft()).toEqual([]);
          await closeAllDaemons();
        }
      }
    },
  );
});

describe('AbortTask overlapping CommitJob', () => {
  it('at each request of the commit: a listed winner stays published', async () => {
    for (let n = 1; ; n++) {
      const memory = newMemoryStore();
      const committer = await startMemoryDaemon({ memory, completeConcurrency: 1 });
      const other = await startMemoryDaemon({ memory });
      const job = await prepare(committer);
      const victim = await job.runTask(3, { victim: 'v' });
      const held = gate();
      committer.faults.watch(({ index }) =>
        index === n ? { hold: 'before', until: held.opened } : undefined,
      );
      const committing = answerOf(job.commit());
      const isHeld = await Promise.race([
        committer.faults.reached(({ index }) => index === n).then(() => true),
        committing.then(() => false),
      ]);
      await job.through(other.client).attempt(3, 0, victim.id).abort([]);
      held.open();
      const { reply } = await committing;
      const files = Object.keys(job.visible()).length;
      expect([n, reply]).toEqual([n, expect.objectContaining({ files: String(files) })]);
      expect([3, 4]).toContain(files);
      expect(job.visible()).toMatchObject(all);
      expect(job.openUploads()).toEqual([]);
      await closeAllDaemons();
      if (!isHeld) break;
      expect(n).toBeLessThan(mostRequests);
    }
  });
});
