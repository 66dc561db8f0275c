import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  closeAllDaemons,
  expectError,
  startMemoryDaemon,
  TestJob,
  type MemoryDaemon,
  type TestAttempt,
} from '../support/memory-daemon/index.js';

const options = { taskRecords: 'TASK_RECORDS_DRIVER' } as const;

let daemon: MemoryDaemon;
let job: TestJob;
beforeEach(async () => {
  // What no record holds is in the ledger soon.
  daemon = await startMemoryDaemon({ ledgerIntervalMs: 10 });
  job = new TestJob(daemon.client, daemon.memory);
  await job.setup(options);
});
afterEach(closeAllDaemons);

async function carried(attempt: TestAttempt): Promise<Buffer> {
  return (await attempt.commit()).pendingset;
}

async function carriedTask(
  task: number,
  files: Readonly<Record<string, string>>,
  number = 0,
): Promise<Buffer> {
  const attempt = job.attempt(task, number);
  for (const [name, content] of Object.entries(files)) await attempt.write(name, content);
  return carried(attempt);
}

/** Requests by operation, and the keys of those for the job's state. */
function watchRequests(): { op: string; key: string }[] {
  const seen: { op: string; key: string }[] = [];
  daemon.faults.watch(({ op, key }) => {
    seen.push({ op, key });
    return undefined;
  });
  return seen;
}

async function expectEnd(visible: Record<string, string>): Promise<void> {
  await expect
    .poll(async () => {
      await daemon.idle();
      return [job.visible(), job.openUploads(), job.recordsLeft()];
    })
    .toEqual([visible, [], []]);
}

describe('CommitTask in a job with TASK_RECORDS_DRIVER', () => {
  it('asks the store for nothing and returns the same bytes whenever it is repeated, on any daemon', async () => {
    const attempt = job.attempt(0);
    await attempt.write('b', 'bb');
    await attempt.write('a', 'a');
    const other = await startMemoryDaemon({ memory: daemon.memory });
    const first = await attempt.commit();
    expect(first).toMatchObject({ files: '2', bytes: '3' });
    const seen = watchRequests().filter(({ key }) => !key.includes('/opened/'));
    const again = await attempt.commit([...attempt.files].reverse());
    expect(seen).toEqual([]);
    expect(again.pendingset.equals(first.pendingset)).toBe(true);
    const through = await other.client.commitTask(attempt.header, attempt.files);
    expect(through.pendingset.equals(first.pendingset)).toBe(true);
    expect(job.staged().filter((name) => /\/(tasks|claims)\//.test(name))).toEqual([]);
  });

  it('refuses what CommitTask always refuses', async () => {
    const attempt = job.attempt(0);
    const file = await attempt.write('a', 'a');
    const forged = { ...file, pending: { ...file.pending!, uploadId: 'of another' } };
    await expectError(attempt.commit([forged]), 'FORGED_HANDLE');
    await expectError(attempt.commit([file, file]), 'DUPLICATE_KEY');
  });

  it('refuses a pendingset that no message could carry, and names the ways out', async () => {
    const small = await startMemoryDaemon({ maxMessageBytes: 64 * 1024 });
    const own = new TestJob(small.client, small.memory);
    await own.setup(options);
    const attempt = own.attempt(0);
    const content = Buffer.alloc(10 * 1024);
    for (let file = 0; file < 4; file++)
      attempt.files.push({ inline: { uri: `${own.destination}/${file}`, content, contentType: '' } });
    await expectError(
      attempt.commit(),
      'LIMIT_EXCEEDED',
      /pendingset of \d+ bytes, of 4 files.*commitbridge\.inline-limit.*commitbridge\.task-records/,
    );
  });

  it('returns none in other jobs', async () => {
    const plain = new TestJob(daemon.client, daemon.memory);
    await plain.setup();
    const attempt = plain.attempt(0);
    await attempt.write('a', 'a');
    expect((await attempt.commit()).pendingset).toHaveLength(0);
  });
});

describe('CommitJobWithPendingsets', () => {
  it('publishes what it is handed, with a constant number of requests beside one a file', async () => {
    const sets: Buffer[] = [];
    const expected: Record<string, string> = {};
    for (let task = 0; task < 10; task++) {
      const files = { [`${task}-a`]: 'a', [`${task}-b`]: 'bb' };
      Object.assign(expected, files);
      sets.push(await carriedTask(task, files));
    }
    sets.push(await carriedTask(10, {}));
    const seen = watchRequests();
    expect(await job.handOver(...sets)).toEqual({ files: '20', bytes: '30', tasks: '11' });
    await expectEnd(expected);
    const claims = seen.filter(({ key }) => key.includes('/claims/'));
    expect(claims.map(({ op }) => op).filter((op) => op === 'put')).toEqual(['put']);
    expect(seen.filter(({ key }) => key.includes('/tasks/')).every(({ op }) => op === 'list')).toBe(true);
    expect(seen.filter(({ op }) => op === 'complete')).toHaveLength(20);
    expect(seen.filter(({ op }) => op === 'abort')).toEqual([]);
    expect(JSON.parse(job.marker() ?? '')).toMatchObject({ metrics: { files: 20, tasks: 11 } });
  });

  it('is repeatable, also on another daemon, before and after cleanup', async () => {
    const set = await carriedTask(0, { a: 'a' });
    const other = await startMemoryDaemon({ memory: daemon.memory });
    const answers = await Promise.all([job.handOver(set), job.through(other.client).handOver(set)]);
    expect(answers).toEqual([answers[0], answers[0]]);
    await expectEnd({ a: 'a' });
    expect(await job.handOver(set)).toEqual(answers[0]);
    expect(await job.commit()).toEqual(answers[0]);
    await expectEnd({ a: 'a' });
  });

  it('publishes inline files from their pendingsets', async () => {
    const attempt = job.attempt(0);
    for (const [name, content] of Object.entries({ i: 'inline', e: '' })) {
      const uri = `${job.destination}/${name}`;
      attempt.files.push({ inline: { uri, content: Buffer.from(content), contentType: '' } });
    }
    await attempt.write('u', 'upload');
    await job.handOver(await carried(attempt));
    await expectEnd({ i: 'inline', e: '', u: 'upload' });
  });

  it('aborts attempts that are not handed over', async () => {
    await carriedTask(0, { loser: 'x' }, 0);
    await job.handOver(await carriedTask(0, { winner: 'y' }, 1));
    await expectEnd({ winner: 'y' });
  });

  it('refuses a pendingset that was altered, cut, made for another job, or made up', async () => {
    const set = await carriedTask(0, { a: 'a' });
    const other = new TestJob(daemon.client, daemon.memory);
    await other.setup(options);
    const theirs = await carried(other.attempt(0));
    const flipped = Buffer.from(set);
    flipped[flipped.length - 5]! ^= 1;
    for (const bad of [flipped, set.subarray(0, -1), set.subarray(32), theirs, Buffer.alloc(0)])
      await expectError(job.handOver(set, bad), 'FORGED_HANDLE', /pass on what CommitTask returned/);
    expect(job.staged().filter((name) => name.includes('/claims/'))).toEqual([]);
    await job.handOver(set);
    await expectEnd({ a: 'a' });
  });

  it('refuses two pendingsets of one task, and a stream that was cut', async () => {
    const sets = [await carriedTask(0, { a: 'a' }, 0), await carriedTask(0, { b: 'b' }, 1)];
    await expectError(job.handOver(...sets), 'INVALID_FIELD', /two attempts of task m-000000/);
    sets[1] = await carriedTask(1, { c: 'c' });
    await expectError(
      daemon.client.commitJobWithPendingsets(job.ref, [sets], 3),
      'INVALID_FIELD',
      /3, 2 came/,
    );
    await expectError(
      daemon.client.commitJobWithPendingsets(job.ref, [sets], 1),
      'INVALID_FIELD',
      /1, 2 came/,
    );
    await expectError(
      daemon.client.commitJobWithPendingsets(job.ref, [], -1),
      'INVALID_FIELD',
      /pendingset_count/,
    );
    await expectError(
      daemon.client.commitJobWithPendingsets(job.ref, [], 1_000_001),
      'LIMIT_EXCEEDED',
      /at most 1000000/,
    );
    const stream = daemon.client.commitJobStream();
    stream.send({ batch: { pendingsets: sets } });
    await expectError(stream.end(), 'INVALID_FIELD', /must be its header/);
    const twice = daemon.client.commitJobStream();
    twice.send({ header: { job: job.ref, pendingsetCount: 0 } });
    twice.send({ header: { job: job.ref, pendingsetCount: 0 } });
    await expectError(twice.end(), 'INVALID_FIELD', /must carry a batch/);
    await expectError(daemon.client.commitJobStream().end(), 'INVALID_FIELD', /no message/);
    expect(job.visible()).toEqual({});
  });

  it('refuses an attempt that was aborted, and decides nothing', async () => {
    const attempt = job.attempt(0, 0);
    await attempt.write('a', 'a');
    const set = await carried(attempt);
    await attempt.abort();
    await expectError(job.handOver(set), 'WINNER_NOT_COMMITTED', /it was aborted/);
    expect(job.fact('decision.json')).toBeUndefined();
    await job.handOver(await carriedTask(0, { b: 'b' }, 1));
    await expectEnd({ b: 'b' });
  });

  it('keeps the uploads of an attempt that is aborted after it was claimed, until the job ends', async () => {
    const aborted = job.attempt(0, 0);
    await aborted.write('a', 'a');
    const dead = job.attempt(1, 0);
    await dead.write('b', 'b');
    const sets = [await carried(aborted), await carried(dead)];
    await dead.abort([]);
    // Claims both, and decides for none.
    await expectError(job.handOver(...sets), 'WINNER_NOT_COMMITTED');
    await aborted.abort();
    expect(job.openUploads().sort()).toEqual(['a', 'b']);
    await job.abort();
    await expectEnd({});
  });

  it('refuses an attempt whose number is the tombstone of another one: its own AbortTask left none', async () => {
    const [x, y] = [job.attempt(0, 0), job.attempt(0, 0)];
    await x.write('x', 'x');
    const set = await carried(x);
    await y.abort();
    await x.abort();
    await expectError(job.handOver(set), 'WINNER_NOT_COMMITTED', /its number was used by/);
    expect(job.fact('decision.json')).toBeUndefined();
    await job.abort();
    await expectEnd({});
  });

  it('lets no AbortFile take away a file that it has claimed', async () => {
    const attempt = job.attempt(0);
    const [file] = [await attempt.write('a', 'a'), await attempt.write('b', 'b')];
    const set = await carried(attempt);
    daemon.faults.watch(({ key }) => (key.includes('/plan-') ? { fail: 'before' } : undefined));
    await expectError(job.handOver(set), 'STORE_UNAVAILABLE');
    daemon.faults.watch(() => undefined);
    await expectError(attempt.abortFile(file.pending!), 'JOB_COMMITTED', /has committed/);
    await job.attempt(0, 1).write('c', 'c');
    const rerun = job.attempt(0, 2);
    await rerun.abortFile((await rerun.open('d')).file!);
    await job.handOver(set);
    await expectEnd({ a: 'a', b: 'b' });
  });

  it('refuses a pendingset that comes again while the stream is open', async () => {
    const set = await carriedTask(0, { a: 'a' });
    const stream = daemon.client.commitJobStream();
    stream.send({ header: { job: job.ref, pendingsetCount: 1_000_000 } });
    stream.send({ batch: { pendingsets: [set, set] } });
    await expectError(stream.end(), 'INVALID_FIELD', /two attempts of task m-000000/);
  });

  it('aborts what one attempt was told OK for beside what was handed over of it', async () => {
    daemon = await startMemoryDaemon({ ledgerIntervalMs: 200 });
    job = new TestJob(daemon.client, daemon.memory);
    await job.setup(options);
    const attempt = job.attempt(0);
    const [first, second] = [await attempt.write('a', 'a'), await attempt.write('b', 'b')];
    await attempt.commit([first]);
    // Before the ledger's first segment: nobody but this daemon knows of `a`.
    await job.handOver((await attempt.commit([second])).pendingset);
    await expectEnd({ b: 'b' });
  });

  it('tells a driver that hands over other attempts than the committed ones', async () => {
    const [first, second] = [await carriedTask(0, { a: 'a' }, 0), await carriedTask(0, { b: 'b' }, 1)];
    const common = await carriedTask(1, { c: 'c' });
    await job.handOver(first, common);
    await expectError(job.handOver(second, common), 'JOB_COMMITTED', /with other pendingsets/);
    await expectError(job.handOver(first), 'JOB_COMMITTED', /others besides these/);
    await expectEnd({ a: 'a', c: 'c' });
  });

  it('after AbortJob: refused, as in any job', async () => {
    const set = await carriedTask(0, { a: 'a' });
    await job.abort();
    await expectError(job.handOver(set), 'JOB_ABORTED');
    await expectEnd({});
  });

  it('is refused in a job without TASK_RECORDS_DRIVER', async () => {
    const plain = new TestJob(daemon.client, daemon.memory);
    await plain.setup();
    await expectError(plain.handOver(), 'UNSUPPORTED', /call CommitJob/);
  });
});

describe('what a call leaves that came too late', () => {
  async function whileClaiming(
    set: Buffer,
    meanwhile: (other: MemoryDaemon) => Promise<unknown>,
  ): Promise<unknown> {
    const other = await startMemoryDaemon({ memory: daemon.memory });
    let goOn = (): void => undefined;
    const until = new Promise<void>((resolve) => (goOn = resolve));
    const isClaim = ({ op, key }: { op: string; key: string }): boolean =>
      op === 'put' && key.includes('/claims/');
    daemon.faults.watch((call) => (isClaim(call) ? { hold: 'before', until } : undefined));
    const commit = job.handOver(set).catch((error: unknown) => error);
    await daemon.faults.reached(isClaim);
    await meanwhile(other);
    await other.idle();
    goOn();
    return commit;
  }

  it('is cleared where AbortJob has looked for claims before they were there', async () => {
    await startSlowLedger();
    const set = await carriedTask(0, { a: 'a' });
    const commit = whileClaiming(set, (other) => job.through(other.client).abort());
    await expectError(rethrow(commit), 'JOB_ABORTED');
    await expectEnd({});
  });

  it('is cleared where another call has published other attempts', async () => {
    await startSlowLedger();
    const [first, second] = [await carriedTask(0, { a: 'a' }, 0), await carriedTask(0, { b: 'b' }, 1)];
    const commit = whileClaiming(second, (other) => job.through(other.client).handOver(first));
    await expectError(rethrow(commit), 'JOB_COMMITTED');
    await expectEnd({ a: 'a' });
  });

  /** What only the ledger's memory knows is not found by whoever ends the job. */
  async function startSlowLedger(): Promise<void> {
    daemon = await startMemoryDaemon({ ledgerIntervalMs: 300 });
    job = new TestJob(daemon.client, daemon.memory);
    await job.setup(options);
  }

  async function rethrow(call: Promise<unknown>): Promise<unknown> {
    const answer = await call;
    if (answer instanceof Error) throw answer;
    return answer;
  }
});

describe('requests of the daemon for a whole job', () => {
  async function count(tasks: number, isInline: boolean): Promise<Record<string, number>> {
    // No flush of the ledger, which goes by the second and not by the task.
    const quiet = await startMemoryDaemon();
    const own = new TestJob(quiet.client, quiet.memory);
    const counts: Record<string, number> = {};
    quiet.faults.watch(({ op }) => {
      counts[op] = (counts[op] ?? 0) + 1;
      return undefined;
    });
    await own.setup(options);
    const sets: Buffer[] = [];
    for (let task = 0; task < tasks; task++) {
      const attempt = own.attempt(task);
      await attempt.setup();
      const uri = `${own.destination}/${task}`;
      if (isInline) attempt.files.push({ inline: { uri, content: Buffer.from('i'), contentType: '' } });
      else await attempt.write(String(task), 'u');
      sets.push(await carried(attempt));
    }
    await own.handOver(...sets);
    await quiet.idle();
    expect(Object.keys(own.visible())).toHaveLength(tasks);
    return counts;
  }

  it.each<[string, boolean, Record<string, number>]>([
    ['two of the three of an uploaded file', false, { initiate: 40, complete: 40 }],
    ['one of an inline file', true, { sendPut: 40 }],
  ])('grow with the tasks by %s, and by nothing else', async (_, isInline, expected) => {
    const [few, many] = [await count(10, isInline), await count(50, isInline)];
    const grown = Object.entries(many)
      .map(([op, number]) => [op, number - (few[op] ?? 0)] as const)
      .filter(([, number]) => number !== 0);
    expect(Object.fromEntries(grown)).toEqual(expected);
  });
});

describe('a job whose driver is gone', () => {
  it('cannot be committed by anybody else, who is told why and what to do', async () => {
    await carriedTask(0, { a: 'a' });
    const sentence = /only the driver can commit it.*jobs abort/;
    await expectError(job.commit(), 'WINNER_NOT_COMMITTED', sentence);
    await expect(daemon.app.admin.commit(job.token)).rejects.toThrow(sentence);
    expect(job.fact('decision.json')).toBeUndefined();
  });

  it('is aborted with all uploads of attempts that only it knew', async () => {
    await carriedTask(0, { a: 'a' });
    await carriedTask(1, { b: 'b' });
    await expect.poll(() => job.staged().some((name) => name.includes('/opened/'))).toBe(true);
    const operator = await startMemoryDaemon({ memory: daemon.memory });
    expect((await operator.app.admin.abort(job.token, 'by hand')).published).toBe(false);
    await operator.idle();
    await expectEnd({});
  });

  it('is finished by anybody once it is decided: the claims are in the store', async () => {
    const attempt = job.attempt(0);
    await attempt.write('a', 'a');
    attempt.files.push({
      inline: { uri: `${job.destination}/i`, content: Buffer.from('inline'), contentType: '' },
    });
    const set = await carried(attempt);
    daemon.faults.watch(({ op }) => (op === 'complete' ? { fail: 'before' } : undefined));
    await expectError(job.handOver(set), 'STORE_UNAVAILABLE');
    daemon.faults.watch(() => undefined);
    const operator = await startMemoryDaemon({ memory: daemon.memory });
    expect(await operator.app.admin.show(job.token)).toMatchObject({ claims: 1, state: 'publishing' });
    expect(await operator.app.admin.commit(job.token)).toMatchObject({ files: 2 });
    await operator.idle();
    await expectEnd({ a: 'a', i: 'inline' });
  });
});

describe('job attempts', () => {
  it('after the first are refused', async () => {
    await expectError(job.nextAttempt().setup(options), 'UNSUPPORTED', /commitbridge\.task-records/);
  });

  it('that follow recover no task, not even one that had nothing to commit', async () => {
    const attempt = job.attempt(0);
    await attempt.commit();
    const next = job.nextAttempt();
    await next.setup();
    await expectError(next.recover(attempt, true), 'ATTEMPT_NOT_FOUND', /kept its task records/);
    const third = next.nextAttempt();
    await third.setup();
    await expectError(third.recover(attempt, true), 'ATTEMPT_NOT_FOUND', /kept its task records/);
  });
});
