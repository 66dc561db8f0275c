import { Client, credentials, Metadata, type MethodDefinition } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  closeAllDaemons,
  expectError,
  startMemoryDaemon,
  TestJob,
  type DaemonClient,
  type MemoryDaemon,
} from '../support/memory-daemon/index.js';
import { serviceDefinition } from '../../src/rpc/proto.js';

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

/** CommitJob by a client that gives up at a time. */
async function commitUntil(deadline: number, job: TestJob): Promise<unknown> {
  const method = serviceDefinition('commitbridge.v1.JobService')['CommitJob'] as MethodDefinition<
    object,
    unknown
  >;
  const client = new Client(daemon.address, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', 'Bearer token-of-alice-1');
  try {
    return await new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        { job: job.ref },
        metadata,
        { deadline },
        (error, response) => {
          if (error === null) resolve(response);
          else reject(error);
        },
      );
    });
  } finally {
    client.close();
  }
}

describe('a replace over a root that holds another', () => {
  it('leaves what the other’s principals own', async () => {
    const nested = await startMemoryDaemon({
      tokens: { 'token-of-alice-1': 'alice', 'token-of-bob-12345': 'bob' },
      roots: [{ uri: 's3a://lake/' }, { uri: 's3a://lake/tables/private', principals: ['alice'] }],
    });
    for (const key of ['tables/old', 'tables/private/gold']) {
      await nested.memory.put({ bucket: 'lake', key }, Buffer.from(key), {});
    }
    const client = nested.connect('token-of-bob-12345');
    const job = new TestJob(client, nested.memory, { destination: 's3a://lake/tables' });
    await job.setup({ conflictMode: 'CONFLICT_MODE_REPLACE' });
    await job.runTask(0, { new: 'x' });
    await job.commit();
    const keys = nested.memory.objects('lake').map(({ key }) => key);
    expect(keys.filter((key) => key.startsWith('tables/')).sort()).toEqual([
      'tables/_SUCCESS',
      'tables/new',
      'tables/private/gold',
    ]);
  });
});

describe('a daemon that shuts down', () => {
  it('does not wait for calls that never reached a handler, or whose client has gone', async () => {
    const job = new TestJob(alice, daemon.memory);
    await job.setup();
    await expect(job.setup({}, { description: 'x'.repeat(17 * 1024 * 1024) })).rejects.toThrow();
    await job.runTask(0, { a: 'a' });
    let release: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (release = resolve));
    daemon.faults.watch(({ op }) => (op === 'complete' ? { hold: 'before', until } : undefined));
    const given = commitUntil(Date.now() + 300, job);
    await daemon.faults.reached(({ op }) => op === 'complete');
    await expect(given).rejects.toThrow(/DEADLINE_EXCEEDED/);
    release();
    await daemon.drain();
    expect(daemon.logs.map(({ message }) => message)).not.toContain('drain ended before its calls');
  });

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
    // The notice is over a moment after it has begun.
    const asked = (): Promise<unknown> =>
      job
        .attempt(1)
        .setup()
        .then(
          () => 'answered',
          (error: unknown) => (error as { reason?: string }).reason,
        );
    await expect.poll(asked).toBe('DRAINING');
    await expectError(job.attempt(1).setup(), 'DRAINING');
    release();
    expect(await committing).toMatchObject({ files: '1' });
    await drained;
  });
});
