import { afterEach, describe, expect, it } from 'vitest';
import type { StoreErrorKind } from '../../src/ports/object-store.js';
import {
  bucket,
  closeAllDaemons,
  expectError,
  failNth,
  type Faults,
  type RpcError,
  startMemoryDaemon,
  TestJob,
  type MemoryDaemon,
  type TestAttempt,
  type When,
} from '../support/memory-daemon/index.js';

afterEach(closeAllDaemons);

/** Enough for any call below: a loop that needs more has no end. */
const mostRequests = 120;

interface Prepared {
  readonly job: TestJob;
  readonly call: () => Promise<unknown>;
  /** What must hold after the call was repeated until it succeeded. */
  readonly check: () => Promise<void>;
}

type Prepare = (daemon: MemoryDaemon) => Promise<Prepared>;

async function committed(daemon: MemoryDaemon): Promise<{ job: TestJob; attempts: TestAttempt[] }> {
  const job = new TestJob(daemon.client, daemon.memory, { jobAttempt: 1 });
  await job.setup();
  const attempts = [
    await job.runTask(0, { a: 'a', b: 'b' }),
    await job.runTask(1, { c: 'earlier' }, 0),
    await job.runTask(1, { c: 'later' }, 1),
  ];
  const gone = job.attempt(2);
  await gone.write('d', 'd');
  await gone.abort();
  return { job, attempts };
}

async function expectEnd(daemon: MemoryDaemon, job: TestJob, visible: Record<string, string>): Promise<void> {
  await daemon.idle();
  expect(job.visible()).toEqual(visible);
  expect(job.openUploads()).toEqual([]);
  expect(job.recordsLeft()).toEqual([]);
}

/** What background cleanup could not remove stays for `gc`: no call waits for it, so no repeated call cures it. */
function failForegroundNth(n: number, when: When, kind?: StoreErrorKind): Faults {
  const faults = failNth(n, when, kind);
  return (call) => (call.op === 'deleteMany' ? undefined : faults(call));
}

const published = { a: 'a', b: 'b', c: 'later' };

const calls: Readonly<Record<string, Prepare>> = {
  'SetupJob of a first attempt': async (daemon) => {
    const old = new TestJob(daemon.client, daemon.memory);
    await old.setup();
    await old.commit();
    const job = new TestJob(daemon.client, daemon.memory, { destination: old.destination });
    return {
      job,
      call: () => job.setup(),
      check: async () => {
        expect(job.marker()).toBeUndefined();
        await job.runTask(0, { a: 'a' });
        await job.commit();
        await expectEnd(daemon, job, { a: 'a' });
      },
    };
  },
  'SetupJob that supersedes': async (daemon) => {
    const { job: first } = await committed(daemon);
    const job = first.nextAttempt();
    return {
      job,
      call: () => job.setup(),
      check: async () => {
        expect(first.fact('decision.json')).toMatchObject({ decision: 'superseded', by: 2 });
        await job.runTask(0, { a: 'new' });
        await job.commit();
        await expectEnd(daemon, job, { a: 'new' });
      },
    };
  },
  'SetupJob that adopts': async (daemon) => {
    const { job: first } = await committed(daemon);
    daemon.faults.watch(({ key }) => (key.endsWith('outcome.json') ? { fail: 'before' } : undefined));
    await first.commit().catch(() => undefined);
    daemon.faults.watch();
    const job = first.nextAttempt();
    return {
      job,
      call: () => job.setup(),
      check: async () => {
        expect(job.fact('job.json')).toMatchObject({ adopts: 1 });
        await job.commit();
        await expectEnd(daemon, job, published);
      },
    };
  },
  OpenFile: async (daemon) => {
    const { job } = await committed(daemon);
    return {
      job,
      call: () => job.attempt(9).open('x'),
      check: async () => {
        await job.abort();
        // An upload whose reply was lost is in no ledger: only `gc` and lifecycle rules see it.
        expect(job.openUploads().length).toBeLessThanOrEqual(2);
      },
    };
  },
  CommitTask: async (daemon) => {
    const { job } = await committed(daemon);
    const attempt = job.attempt(5);
    await attempt.write('e', 'e');
    await attempt.write('f', 'f');
    return {
      job,
      call: () => attempt.commit(),
      check: async () => {
        await job.commit();
        await expectEnd(daemon, job, { ...published, e: 'e', f: 'f' });
      },
    };
  },
  'AbortTask of a running attempt': async (daemon) => {
    const { job } = await committed(daemon);
    const attempt = job.attempt(5);
    await attempt.write('e', 'e');
    await attempt.write('f', 'f');
    return {
      job,
      call: () => attempt.abort(),
      check: async () => {
        expect(job.openUploads().sort()).toEqual(['a', 'b', 'c', 'c']);
        await expectError(attempt.commit(), 'ATTEMPT_ABORTED');
        await job.commit();
        await expectEnd(daemon, job, published);
      },
    };
  },
  'AbortTask of a committed attempt': async (daemon) => {
    const { job, attempts } = await committed(daemon);
    return {
      job,
      call: () => attempts[2]!.abort(),
      check: async () => {
        await job.commit();
        await expectEnd(daemon, job, { ...published, c: 'earlier' });
      },
    };
  },
  CommitJob: async (daemon) => {
    const { job } = await committed(daemon);
    return {
      job,
      call: () => job.commit(),
      check: async () => {
        expect(job.marker()).toContain(job.token);
        expect(await job.abort()).toEqual({ published: true });
        await expectEnd(daemon, job, published);
      },
    };
  },
  'CommitJob that overwrites': async (daemon) => {
    const { job } = await committed(daemon);
    const path = job.destination.replace(`s3a://${bucket}/`, '');
    await daemon.memory.put({ bucket, key: `${path}/a` }, Buffer.from('old'), {});
    await daemon.memory.put({ bucket, key: `${path}/other` }, Buffer.from('other'), {});
    return {
      job,
      call: () => job.commit(),
      check: async () => {
        expect(job.marker()).toContain(job.token);
        await expectEnd(daemon, job, { ...published, other: 'other' });
      },
    };
  },
  'AbortJob of a running job': async (daemon) => {
    const { job } = await committed(daemon);
    return {
      job,
      call: () => job.abort(),
      check: async () => {
        await expectError(job.commit(), 'JOB_ABORTED');
        await expectEnd(daemon, job, {});
      },
    };
  },
  'AbortJob of a half-published job': async (daemon) => {
    const { job } = await committed(daemon);
    let completes = 0;
    daemon.faults.watch(({ op }) => (op === 'complete' && ++completes > 1 ? { fail: 'before' } : undefined));
    await expectError(job.commit(), 'STORE_UNAVAILABLE');
    daemon.faults.watch();
    return {
      job,
      call: () => job.abort(),
      check: async () => {
        await expectError(job.commit(), 'JOB_ABORTED');
        await expectEnd(daemon, job, {});
      },
    };
  },
  'AbortJob of a job whose last words were lost': async (daemon) => {
    const { job } = await committed(daemon);
    daemon.faults.watch(({ op, key }) =>
      op === 'sendPut' && key.endsWith('_SUCCESS') ? { fail: 'before' } : undefined,
    );
    await expectError(job.commit(), 'STORE_UNAVAILABLE');
    daemon.faults.watch();
    return {
      job,
      call: () => job.abort(),
      check: async () => {
        expect(job.marker()).toContain(job.token);
        await expectEnd(daemon, job, published);
      },
    };
  },
  RecoverTask: async (daemon) => {
    const { job: first, attempts } = await committed(daemon);
    const job = first.nextAttempt();
    await job.setup();
    return {
      job,
      call: () => job.recover(attempts[0]!),
      check: async () => {
        await job.commit();
        await expectEnd(daemon, job, { a: 'a', b: 'b' });
      },
    };
  },
};

describe.each(Object.entries(calls))('%s', (_, prepare) => {
  describe.each(['before', 'after'] as const)('whose nth store request fails %s its effect', (when: When) => {
    it('succeeds when it is repeated, for each n', async () => {
      let n = 1;
      for (; ; n++) {
        const daemon = await startMemoryDaemon();
        const { call, check } = await prepare(daemon);
        daemon.faults.watch(failForegroundNth(n, when));
        const first = call();
        const isRefused = await first.then(
          () => false,
          () => true,
        );
        const isReached = daemon.faults.calls.length >= n;
        daemon.faults.watch();
        if (isRefused) await expectError(first, 'STORE_UNAVAILABLE');
        await call();
        await check();
        await daemon.close();
        if (!isReached) break;
        expect(n).toBeLessThan(mostRequests);
      }
      expect(n).toBeGreaterThan(1);
    });

    it('succeeds at once where the daemon repeats its requests, for each n', async () => {
      for (let n = 1; ; n++) {
        const daemon = await startMemoryDaemon({ retry: true });
        const { call, check } = await prepare(daemon);
        daemon.faults.watch(failForegroundNth(n, when));
        await call();
        const isReached = daemon.faults.calls.length >= n;
        daemon.faults.watch();
        await check();
        await daemon.close();
        if (!isReached) break;
        expect(n).toBeLessThan(mostRequests);
      }
    });
  });

  it('whose nth store request is refused for good fails with that reason, and succeeds once it is cured', async () => {
    const kinds: readonly StoreErrorKind[] = ['access-denied', 'no-such-bucket', 'expired-credentials'];
    for (let n = 1; ; n++) {
      const daemon = await startMemoryDaemon();
      const { call, check } = await prepare(daemon);
      daemon.faults.watch(failForegroundNth(n, 'before', kinds[n % kinds.length]));
      const error = await call().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const isReached = daemon.faults.calls.length >= n;
      daemon.faults.watch();
      if (error !== undefined) {
        expect((error as RpcError).reason).toMatch(/^(STORE_ACCESS_DENIED|BUCKET_NOT_FOUND)$/);
      }
      await call();
      await check();
      await daemon.close();
      if (!isReached) break;
      expect(n).toBeLessThan(mostRequests);
    }
  });
});

describe('a store that goes on failing', () => {
  it('in background cleanup fails no call and changes no output; the log says so', async () => {
    const daemon = await startMemoryDaemon();
    const { job } = await committed(daemon);
    daemon.faults.watch(({ op }) => (op === 'deleteMany' ? { fail: 'before' } : undefined));
    expect(await job.commit()).toMatchObject({ files: '3' });
    await daemon.idle();
    expect(job.visible()).toEqual(published);
    expect(job.openUploads()).toEqual([]);
    expect(job.recordsLeft()).not.toEqual([]);
    expect(daemon.logs).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'background work failed' }),
    );
  });

  it.each([
    ['throttled', 'STORE_UNAVAILABLE', /stores\.\*\.endpoint/],
    ['unavailable', 'STORE_UNAVAILABLE', /stores\.\*\.endpoint/],
    ['timeout', 'STORE_UNAVAILABLE', /stores\.\*\.endpoint/],
    ['conflict', 'STORE_UNAVAILABLE', /repeated/],
    ['access-denied', 'STORE_ACCESS_DENIED', /stores\.\*\.credentials/],
    ['expired-credentials', 'STORE_ACCESS_DENIED', /stores\.\*\.credentials/],
    ['no-such-bucket', 'BUCKET_NOT_FOUND', /roots\[\]\.uri/],
    ['key-too-long', 'KEY_TOO_LONG', /long/],
    ['unsupported', 'UNSUPPORTED', /cannot/],
  ] as const)('with %s: %s, and nothing of the job is lost', async (kind, reason, text) => {
    const daemon = await startMemoryDaemon();
    const { job } = await committed(daemon);
    daemon.faults.watch(() => ({ fail: 'before', kind }));
    await expectError(job.commit(), reason, text);
    await expectError(job.attempt(8).open('x'), reason, text);
    await expectError(new TestJob(daemon.client, daemon.memory).setup(), reason, text);
    daemon.faults.watch();
    await job.commit();
    await expectEnd(daemon, job, published);
  });

  it('in the middle of a publication keeps it half-way, to be finished by the next CommitJob (CELEBORN-2003)', async () => {
    const daemon = await startMemoryDaemon({ retry: true });
    const { job } = await committed(daemon);
    let completes = 0;
    daemon.faults.watch(({ op }) =>
      op === 'complete' && ++completes > 1 ? { fail: 'before', kind: 'throttled' } : undefined,
    );
    await expectError(job.commit(), 'STORE_UNAVAILABLE');
    daemon.faults.watch();
    expect(await job.commit()).toMatchObject({ files: '3' });
    await expectEnd(daemon, job, published);
  });
});
