import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  closeAllDaemons,
  expectError,
  startMemoryDaemon,
  TestJob,
  type DaemonClient,
  type MemoryDaemon,
} from '../support/memory-daemon/index.js';

let daemon: MemoryDaemon;
let alice: DaemonClient;
let bob: DaemonClient;
beforeEach(async () => {
  daemon = await startMemoryDaemon({
    tokens: { 'token-of-alice-1': 'alice', 'token-of-bob-12345': 'bob' },
    roots: [{ uri: 's3a://lake/tables' }, { uri: 's3a://lake/private', principals: ['alice'] }],
  });
  alice = daemon.connect('token-of-alice-1');
  bob = daemon.connect('token-of-bob-12345');
});
afterEach(closeAllDaemons);

describe('a caller without a valid identity', () => {
  it('is refused, whatever it asks', async () => {
    for (const client of [daemon.client, daemon.connect('token-of-nobody-1')]) {
      const job = new TestJob(client, daemon.memory);
      await expectError(job.setup(), 'UNAUTHENTICATED');
      await expectError(job.abort(), 'UNAUTHENTICATED');
      await expectError(job.attempt(0).commit(), 'UNAUTHENTICATED');
      await expectError(client.getServerInfo({}), 'UNAUTHENTICATED');
    }
    expect(daemon.memory.objects()).toEqual([]);
  });
});

describe('a job of one principal', () => {
  it('answers no call of another, and loses nothing', async () => {
    const job = new TestJob(alice, daemon.memory, { jobAttempt: 1 });
    await job.setup();
    const done = await job.runTask(0, { a: 'a' });
    const stolen = job.through(bob);
    const attempt = stolen.attempt(0, 0, done.id);
    const calls = [
      stolen.setup(),
      attempt.setup(),
      attempt.open('x'),
      attempt.commit(done.files),
      attempt.abort(done.pending),
      attempt.abortFile(done.pending[0]!),
      stolen.commit(),
      stolen.abort(),
      stolen.recover(attempt),
    ];
    for (const call of calls) await expectError(call, 'PRINCIPAL_NOT_ALLOWED');
    await job.commit();
    expect(job.visible()).toEqual({ a: 'a' });
  });

  it('cannot be ended or superseded by another in the name of a later job attempt', async () => {
    const job = new TestJob(alice, daemon.memory, { jobAttempt: 1 });
    await job.setup();
    await job.runTask(0, { a: 'a' });
    const later = job.through(bob, { jobAttempt: 2, setupId: 'bob' });
    await expectError(later.abort(), 'PRINCIPAL_NOT_ALLOWED');
    await expectError(later.abort({ scope: 'ABORT_SCOPE_EARLIER_ATTEMPTS' }), 'PRINCIPAL_NOT_ALLOWED');
    await expectError(later.setup(), 'PRINCIPAL_NOT_ALLOWED');
    await job.commit();
    expect(job.visible()).toEqual({ a: 'a' });
  });
});

describe('a root of named principals', () => {
  it('is closed to all others', async () => {
    const destination = 's3a://lake/private/t';
    await expectError(
      new TestJob(bob, daemon.memory, { destination }).setup(),
      'PRINCIPAL_NOT_ALLOWED',
      /roots\[\]/,
    );
    await new TestJob(alice, daemon.memory, { destination }).setup();
  });
});

describe('a daemon that shuts down', () => {
  it('finishes running calls and refuses new ones, which another daemon may answer', async () => {
    const job = new TestJob(alice, daemon.memory);
    await job.setup();
    await job.runTask(0, { a: 'a' });
    let release: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (release = resolve));
    daemon.faults.watch(({ op }) => (op === 'complete' ? { hold: 'before', until } : undefined));
    const committing = job.commit();
    await daemon.faults.reached(({ op }) => op === 'complete');
    const drained = daemon.drain();
    await expect.poll(() => daemon.logs.some(({ message }) => message === 'drain begun')).toBe(true);
    await expectError(job.attempt(1).setup(), 'DRAINING');
    release();
    expect(await committing).toMatchObject({ files: '1' });
    await drained;
  });
});
