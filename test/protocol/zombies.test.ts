import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeAllDaemons, expectError, startMemoryDaemon, TestJob } from '../support/memory-daemon/index.js';

afterEach(closeAllDaemons);

const ledgerIntervalMs = 20;

async function start(options = {}) {
  const daemon = await startMemoryDaemon({ ledgerIntervalMs, ...options });
  const job = new TestJob(daemon.client, daemon.memory);
  await job.setup();
  return { daemon, job };
}

/** Until the ledger has flushed all that is open now. */
const flushed = () => sleep(ledgerIntervalMs * 4);

describe('a task attempt whose job has ended', () => {
  it.each(['abort', 'commit'] as const)('opens no file once its daemon has seen the %s', async (end) => {
    const { job } = await start();
    const zombie = job.attempt(0);
    await zombie.open('before');
    await job[end]();
    const reason = end === 'abort' ? 'JOB_ABORTED' : 'JOB_COMMITTED';
    // At most a few are opened before the daemon sees it, and those go by themselves.
    await vi.waitFor(async () => {
      const opened = zombie.open(`late-${zombie.unfinished.length}`);
      await expectError(opened, reason);
    });
    await vi.waitFor(() => {
      expect(job.openUploads()).toEqual([]);
    });
    await flushed();
    await expectError(zombie.open('later'), reason);
  });

  it('commits nothing after AbortJob: refused, its uploads aborted, no record left (SPARK-25250)', async () => {
    const { daemon, job } = await start();
    const zombie = job.attempt(0);
    await zombie.write('z', 'z');
    await job.abort();
    await expectError(zombie.commit(), 'JOB_ABORTED');
    expect(job.openUploads()).toEqual([]);
    await expectError(zombie.commit(), 'JOB_ABORTED');
    await flushed();
    await daemon.idle();
    expect(job.recordsLeft()).toEqual([]);
    expect(job.visible()).toEqual({});
  });

  it('commits nothing after CommitJob that does not list it (SPARK-40647)', async () => {
    const { daemon, job } = await start();
    const zombie = job.attempt(0, 1);
    await zombie.write('z', 'z');
    await job.runTask(0, { a: 'a' });
    await job.commit();
    await expectError(zombie.commit(), 'JOB_COMMITTED');
    expect(job.openUploads()).toEqual([]);
    await flushed();
    await daemon.idle();
    expect(job.recordsLeft()).toEqual([]);
    expect(job.visible()).toEqual({ a: 'a' });
  });

  it('in a superseded job attempt whose successor has ended leaves no upload open', async () => {
    const { daemon, job } = await start();
    const zombie = job.attempt(0);
    await zombie.write('z', 'z');
    const next = job.nextAttempt();
    await next.setup();
    await next.runTask(0, { a: 'a' });
    await next.commit();
    await expectError(zombie.commit(), 'JOB_SUPERSEDED');
    await flushed();
    await daemon.idle();
    expect(job.openUploads()).toEqual([]);
    expect(job.recordsLeft()).toEqual([]);
  });

  it('in a job attempt that adopted a commit which is done leaves no upload open', async () => {
    const { daemon, job } = await start();
    await job.runTask(0, { a: 'a' });
    await job.commit();
    const next = job.nextAttempt();
    await next.setup();
    await next.commit();
    const rerun = next.attempt(0);
    await rerun.write('z', 'z');
    await rerun.commit();
    await flushed();
    await daemon.idle();
    expect(next.openUploads()).toEqual([]);
    expect(next.visible()).toEqual({ a: 'a' });
  });
});

describe('uploads of a client that vanished', () => {
  it('are aborted by AbortJob, on another daemon, from the ledger', async () => {
    const { daemon, job } = await start();
    await job.attempt(0).open('orphan');
    await vi.waitFor(() => {
      expect(job.recordsLeft()).toHaveLength(1);
    });
    daemon.kill();
    const other = await startMemoryDaemon({ memory: daemon.memory });
    await job.through(other.client).abort();
    await other.idle();
    expect(job.openUploads()).toEqual([]);
    expect(job.recordsLeft()).toEqual([]);
  });

  it('are aborted by CommitJob, on another daemon, from the ledger', async () => {
    const { daemon, job } = await start();
    await job.attempt(0, 0).write('orphan', 'x');
    await job.attempt(1).open('orphan-too');
    await vi.waitFor(() => {
      expect(job.recordsLeft().length).toBeGreaterThan(0);
    });
    daemon.kill();
    const other = await startMemoryDaemon({ memory: daemon.memory });
    const seen = job.through(other.client);
    await seen.runTask(0, { a: 'a' }, 1);
    await seen.commit();
    await other.idle();
    expect(job.visible()).toEqual({ a: 'a' });
    expect(job.openUploads()).toEqual([]);
    expect(job.recordsLeft()).toEqual([]);
  });

  it('are not aborted while the job runs', async () => {
    const { job } = await start();
    const slow = job.attempt(0);
    await slow.open('slow');
    await flushed();
    await flushed();
    expect(job.openUploads()).toEqual(['slow']);
    const other = job.attempt(1);
    await other.write('b', 'b');
    await flushed();
    await other.commit();
    await slow.abort();
    await job.commit();
    expect(job.visible()).toEqual({ b: 'b' });
  });

  it('of a killed attempt never become visible, though the file is whole (HIVE-27899)', async () => {
    const { daemon, job } = await start();
    const killed = job.attempt(0);
    await killed.write('part-0', 'half');
    await job.runTask(0, { 'part-0': 'whole' }, 1);
    await job.commit();
    await flushed();
    await daemon.idle();
    expect(job.visible()).toEqual({ 'part-0': 'whole' });
    expect(job.openUploads()).toEqual([]);
    expect(job.recordsLeft()).toEqual([]);
  });

  it('are written down when the daemon shuts down in order', async () => {
    const { daemon, job } = await start({ ledgerIntervalMs: 600_000 });
    await job.attempt(0).open('orphan');
    expect(job.recordsLeft()).toEqual([]);
    await daemon.close();
    expect(job.recordsLeft()).toHaveLength(1);
  });
});

it('a daemon that closes writes its ledger, though the first try is refused', async () => {
  const daemon = await startMemoryDaemon();
  const job = new TestJob(daemon.client, daemon.memory);
  await job.setup();
  await job.attempt(0).open('never-closed');
  let refused = 0;
  daemon.faults.watch(({ op, key }) =>
    op === 'put' && key.includes('/opened/') && refused++ === 0
      ? { fail: 'before', kind: 'access-denied' }
      : undefined,
  );
  await daemon.close();
  expect(refused).toBe(2);
  expect(job.staged().filter((name) => name.includes('/opened/'))).toHaveLength(1);
});
