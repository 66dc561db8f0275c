import { connect } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serviceDefinition } from '../../src/rpc/proto.js';
import {
  closeAllDaemons,
  expectError,
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

async function expectEnd(visible: Record<string, string>): Promise<void> {
  await daemon.idle();
  expect(job.visible()).toEqual(visible);
  expect(job.openUploads()).toEqual([]);
  expect(job.recordsLeft()).toEqual([]);
}

describe('two attempts of one task', () => {
  it('that commit both: the later one wins and the earlier one is aborted (HADOOP-17258)', async () => {
    await job.runTask(0, { 'part-0': 'earlier', extra: 'x' }, 0);
    await job.runTask(0, { 'part-0': 'later' }, 1);
    expect(await job.commit()).toEqual({ files: '1', bytes: '5', tasks: '1' });
    await expectEnd({ 'part-0': 'later' });
  });

  it('whose later one commits first: the higher number wins all the same', async () => {
    await job.runTask(0, { 'part-0': 'later' }, 7);
    await job.runTask(0, { 'part-0': 'earlier' }, 3);
    await job.commit();
    await expectEnd({ 'part-0': 'later' });
  });

  it('are ordered as numbers, not as text (stage attempts: SPARK-24589)', async () => {
    await job.runTask(0, { 'part-0': 'nine' }, 9);
    await job.runTask(0, { 'part-0': 'later' }, 65_536);
    await job.commit();
    await expectEnd({ 'part-0': 'later' });
  });

  it('whose later one wrote nothing publish nothing', async () => {
    await job.runTask(0, { 'part-0': 'earlier' }, 0);
    await job.attempt(0, 1).commit();
    await job.commit();
    await expectEnd({});
  });

  it('whose later one was aborted: the earlier one stays the winner', async () => {
    await job.runTask(0, { 'part-0': 'kept' }, 0);
    const later = await job.runTask(0, { 'part-0': 'given up' }, 1);
    await later.abort();
    await job.commit();
    await expectEnd({ 'part-0': 'kept' });
  });

  it('that differ in their job ids are one task (SPARK-41448)', async () => {
    const one = job.attempt(0, 0, 'attempt_20240101_0001_m_000000_0');
    const two = job.attempt(0, 1, 'attempt_20240102_0099_m_000000_1');
    for (const attempt of [one, two]) {
      await attempt.write(`part-${attempt.number}`, 'x');
      await attempt.commit();
    }
    await job.commit();
    await expectEnd({ 'part-1': 'x' });
  });

  it('that commit at the same time leave exactly one winner, whoever comes first', async () => {
    const attempts = await Promise.all(
      Array.from({ length: 10 }, async (_, number) => {
        const attempt = job.attempt(0, number);
        await attempt.write(`part-${number}`, `${number}`);
        return attempt;
      }),
    );
    await Promise.all(attempts.reverse().map((attempt) => attempt.commit()));
    await job.commit();
    await expectEnd({ 'part-9': '9' });
  });

  it('under one number, told apart by their ids (SPARK-26682): the first to commit stays', async () => {
    const first = job.attempt(0, 0, 'run-1');
    const second = job.attempt(0, 0, 'run-2');
    await first.write('part-0', 'first');
    await second.write('part-0', 'second');
    await first.commit();
    await expectError(second.commit(), 'ATTEMPT_EXISTS', /run-1/);
    await second.abort();
    await job.commit();
    expect(job.visible()).toEqual({ 'part-0': 'first' });
  });

  it('under one number: one that is aborted touches nothing of the other', async () => {
    const first = job.attempt(0, 0, 'run-1');
    const second = job.attempt(0, 0, 'run-2');
    await first.write('part-0', 'first');
    await first.commit();
    await second.abort([]);
    await job.commit();
    await expectEnd({ 'part-0': 'first' });
  });
});

describe('CommitTask', () => {
  it('replayed with the same files is OK, before and after the publication', async () => {
    const attempt = await job.runTask(0, { a: 'a', b: 'b' });
    expect(await attempt.commit()).toMatchObject({ files: '2', bytes: '2' });
    await job.commit();
    await daemon.idle();
    expect(await attempt.commit()).toMatchObject({ files: '2', bytes: '2' });
    await daemon.idle();
    await expectEnd({ a: 'a', b: 'b' });
  });

  it('replayed with the same files in another order or in other batches is OK', async () => {
    const attempt = await job.runTask(0, { a: 'a', b: 'b', c: 'c' });
    expect(await daemon.client.commitTask(attempt.header, [...attempt.files].reverse())).toMatchObject({
      files: '3',
      bytes: '3',
    });
  });

  it('of other files under the same attempt is refused and changes nothing', async () => {
    const attempt = await job.runTask(0, { a: 'a' });
    await attempt.write('b', 'b');
    await expectError(attempt.commit(), 'ATTEMPT_EXISTS', /other files/);
    await job.commit();
    expect(job.visible()).toEqual({ a: 'a' });
  });

  it('twice at once answers alike', async () => {
    const attempt = job.attempt(0);
    await attempt.write('a', 'a');
    const replies = await Promise.all([attempt.commit(), attempt.commit(), attempt.commit()]);
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
    await job.commit();
    await expectEnd({ a: 'a' });
  });

  it('after AbortTask is refused and never visible (SPARK-19631)', async () => {
    const attempt = job.attempt(0);
    await attempt.write('a', 'a');
    await attempt.abort();
    expect(job.openUploads()).toEqual([]);
    await expectError(attempt.commit(), 'ATTEMPT_ABORTED');
    await job.commit();
    await expectEnd({});
  });

  it('without a file that is still open leaves that one out, for good (HIVE-27899)', async () => {
    const attempt = job.attempt(0);
    await attempt.write('whole', 'x');
    const { file } = await attempt.open('half', 1);
    await attempt.commit();
    await attempt.abortFile(file!);
    await job.commit();
    await expectEnd({ whole: 'x' });
  });

  it('cut in the middle by a lost connection writes nothing', async () => {
    const attempt = job.attempt(0);
    await attempt.write('a', 'a');
    await attempt.write('b', 'b');
    const { requestSerialize, path } = serviceDefinition('commitbridge.v1.JobService')['CommitTask']!;
    const frame = (message: object): Buffer => {
      const body = requestSerialize(message);
      const head = Buffer.alloc(5);
      head.writeUInt32BE(body.length, 1);
      return Buffer.concat([head, body]);
    };
    const session = connect(`http://${daemon.address}`);
    session.on('error', () => undefined);
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => undefined);
    stream.write(frame({ header: attempt.header }));
    stream.write(frame({ files: { files: [attempt.files[0]!] } }));
    await sleep(50);
    session.destroy();
    await sleep(100);
    expect(job.recordsLeft()).toEqual([]);
    expect(daemon.logs.filter(({ level }) => level === 'error')).toEqual([]);
    expect(await attempt.commit()).toMatchObject({ files: '2' });
  });

  it('that brings another number of files than its header says is refused: it may have been cut', async () => {
    const attempt = job.attempt(0);
    await attempt.write('a', 'a');
    await attempt.write('b', 'b');
    for (const files of [[attempt.files[0]!], [...attempt.files, attempt.files[0]!], []]) {
      const stream = daemon.client.commitTaskStream();
      stream.send({ header: attempt.header });
      stream.send({ files: { files } });
      await expectError(stream.end(), 'INVALID_FIELD', /file_count says 2/);
    }
    expect(job.recordsLeft()).toEqual([]);
    expect(await attempt.commit()).toMatchObject({ files: '2' });
  });

  it('validates all files before anything is written', async () => {
    const attempt = job.attempt(0);
    await attempt.write('good', 'x');
    const bad = { ...attempt.files[0]!, parts: [] };
    daemon.faults.watch();
    await expectError(daemon.client.commitTask(attempt.header, [attempt.files[0]!], [bad]), 'INVALID_PARTS');
    expect(daemon.faults.calls).toEqual([]);
    expect(await attempt.commit()).toMatchObject({ files: '1' });
  });

  it('refuses two files of one key', async () => {
    const attempt = job.attempt(0);
    await attempt.write('same', '1');
    await attempt.write('same', '2');
    await expectError(attempt.commit(), 'DUPLICATE_KEY', /same/);
    expect(job.recordsLeft()).toEqual([]);
    await attempt.abort();
    expect(job.openUploads()).toEqual([]);
  });

  it('takes one file of many parts, and refuses parts that cannot make a file', async () => {
    const attempt = job.attempt(0);
    const { pending, parts } = await attempt.write('long', 'x'.repeat(3_000));
    expect(parts!.length).toBeGreaterThan(3);
    const commit = (changed: typeof parts) =>
      daemon.client.commitTask(attempt.header, [{ pending: pending!, parts: changed! }]);
    const [first, second, ...rest] = parts!;
    await expectError(commit([]), 'INVALID_PARTS', /none/);
    await expectError(commit([second!, first!, ...rest]), 'INVALID_PARTS', /order/);
    await expectError(commit([first!, ...rest]), 'INVALID_PARTS', /missing/);
    await expectError(commit([first!, first!, ...rest]), 'INVALID_PARTS');
    await expectError(commit([{ ...first!, sizeBytes: 3 }, second!]), 'INVALID_PARTS', /3 bytes/);
    await expectError(commit([{ ...first!, sizeBytes: -1 }]), 'INVALID_PARTS');
    await expectError(commit([{ ...first!, sizeBytes: '9223372036854775807' }]), 'INVALID_PARTS');
    await expectError(commit([{ ...first!, etag: '' }]), 'INVALID_PARTS', /ETag/);
    await expectError(commit([{ ...first!, etag: 'a\nb' }]), 'INVALID_PARTS', /ETag/);
    const many = Array.from({ length: 10_001 }, (_, i) => ({ partNumber: i + 1, etag: 'e', sizeBytes: 16 }));
    await expectError(commit(many), 'INVALID_PARTS', /10001/);
    expect(await commit(parts)).toMatchObject({ files: '1', bytes: '3000' });
  });
});

describe('a handle', () => {
  it('is refused where anything that it vouches for was changed', async () => {
    const attempt = job.attempt(0);
    const file = await attempt.write('a', 'a');
    const other = await job.attempt(0).write('b', 'b');
    const pending = file.pending!;
    const forged = [
      { ...pending, uri: `${job.destination}/elsewhere` },
      { ...pending, uploadId: other.pending!.uploadId! },
      { ...pending, commitbridgeId: other.pending!.commitbridgeId! },
      { ...pending, handle: other.pending!.handle! },
      { ...pending, handle: Buffer.alloc(0) },
      { ...pending, handle: Buffer.alloc(32) },
      { ...pending, handle: Buffer.concat([pending.handle as Buffer, Buffer.from([0])]) },
    ];
    for (const changed of forged) {
      await expectError(attempt.commit([{ ...file, pending: changed }]), 'FORGED_HANDLE');
      await expectError(attempt.abort([changed]), 'FORGED_HANDLE');
      await expectError(attempt.abortFile(changed), 'FORGED_HANDLE');
      const signing = { job: job.ref, attempt: attempt.ref, file: changed, firstPartNumber: 1, count: 1 };
      await expectError(daemon.client.signParts(signing), 'FORGED_HANDLE');
    }
    expect(job.openUploads().sort()).toEqual(['a', 'b']);
    expect(job.recordsLeft()).toEqual([]);
    expect(await attempt.commit()).toMatchObject({ files: '1' });
  });

  it('of another attempt, job or job attempt is refused', async () => {
    const attempt = job.attempt(0);
    const file = await attempt.write('a', 'a');
    const sameIdOtherNumber = job.attempt(0, 1, attempt.id);
    await expectError(sameIdOtherNumber.commit([file]), 'FORGED_HANDLE');
    await expectError(job.attempt(1, 0, attempt.id).commit([file]), 'FORGED_HANDLE');
    const other = new TestJob(daemon.client, daemon.memory, { destination: job.destination });
    await other.setup();
    await expectError(other.attempt(0, 0, attempt.id).commit([file]), 'FORGED_HANDLE');
    const next = job.nextAttempt();
    await next.setup();
    await expectError(next.attempt(0, 0, attempt.id).commit([file]), 'FORGED_HANDLE');
  });
});

describe('AbortTask', () => {
  it('twice, and of an attempt that nobody knows, is OK', async () => {
    const attempt = job.attempt(0);
    await attempt.write('a', 'a');
    await attempt.abort();
    await attempt.abort();
    await job.attempt(5).abort();
    await job.commit();
    await expectEnd({});
  });

  it('from a process that only has the ids: all goes when the job ends', async () => {
    const other = daemon.connect();
    const attempt = job.attempt(0);
    await attempt.write('a', 'a');
    const fromElsewhere = job.through(other).attempt(0, 0, attempt.id);
    await fromElsewhere.abort([]);
    await expectError(attempt.commit(), 'ATTEMPT_ABORTED');
    await attempt.abort();
    expect(job.openUploads()).toEqual([]);
    await job.commit();
    await expectEnd({});
  });

  it('after CommitTask takes the attempt out; its uploads go when the job ends', async () => {
    const attempt = await job.runTask(0, { a: 'a' });
    await attempt.abort();
    expect(job.openUploads()).toEqual(['a']);
    await job.runTask(0, { b: 'b' }, 1);
    await job.commit();
    await expectEnd({ b: 'b' });
  });

  it('of a winner after the commit leaves it published', async () => {
    const attempt = await job.runTask(0, { a: 'a' });
    await job.commit();
    await daemon.idle();
    await attempt.abort();
    await daemon.idle();
    expect(job.visible()).toEqual({ a: 'a' });
  });

  it('names more files than fit one call in a second one', async () => {
    const attempt = job.attempt(0);
    await attempt.write('a', 'a');
    await attempt.write('b', 'b');
    const [a, b] = attempt.pending;
    await attempt.abort([a!]);
    expect(job.openUploads()).toEqual(['b']);
    await attempt.abort([b!]);
    expect(job.openUploads()).toEqual([]);
  });

  it('after the abort of the job is OK', async () => {
    const attempt = job.attempt(0);
    await attempt.write('a', 'a');
    await job.abort();
    await attempt.abort();
    expect(job.openUploads()).toEqual([]);
  });
});

describe('AbortFile', () => {
  it('aborts one upload, repeats, and refuses a committed file', async () => {
    const attempt = job.attempt(0);
    const { file } = await attempt.open('deleted');
    const kept = await attempt.write('kept', 'k');
    await attempt.abortFile(file!);
    await attempt.abortFile(file!);
    expect(job.openUploads()).toEqual(['kept']);
    await attempt.commit();
    await expectError(attempt.abortFile(kept.pending!), 'JOB_COMMITTED', /abort the attempt/);
    await job.commit();
    await expectEnd({ kept: 'k' });
  });
});

describe('parts', () => {
  it('are signed by number, in the sizes of the plan, until the store takes no more', async () => {
    const attempt = job.attempt(0);
    const { file, signedParts } = await attempt.open('a', 3);
    expect(signedParts.map(({ partNumber }) => partNumber)).toEqual([1, 2, 3]);
    const sign = (firstPartNumber: number, count: number) =>
      daemon.client.signParts({ job: job.ref, attempt: attempt.ref, file: file!, firstPartNumber, count });
    expect((await sign(2, 2)).signedParts.map(({ partNumber }) => partNumber)).toEqual([2, 3]);
    expect((await sign(9_999, 10)).signedParts.map(({ partNumber }) => partNumber)).toEqual([9_999, 10_000]);
    await expectError(sign(10_001, 1), 'INVALID_FIELD', /10000 parts/);
    for (const [first, count] of [
      [0, 1],
      [-1, 1],
      [1, 0],
      [1, -5],
      [1, 1_001],
    ] as const) {
      await expectError(sign(first, count), 'INVALID_FIELD');
    }
    await expectError(attempt.open('b', 1_001), 'INVALID_FIELD');
    await expectError(attempt.open('b', -1), 'INVALID_FIELD');
  });

  it('of an upload that ended are refused by the store', async () => {
    const attempt = job.attempt(0);
    const { signedParts } = await attempt.open('a', 1);
    await attempt.abort();
    await expect(daemon.memory.putSigned(signedParts[0]!.url, Buffer.from('x'))).rejects.toMatchObject({
      kind: 'no-such-upload',
    });
  });

  it('whose ETags the client got wrong fail the commit of the job, which then can be aborted', async () => {
    const attempt = job.attempt(0);
    const file = await attempt.write('a', 'a');
    await attempt.commit([
      { ...file, parts: [{ ...file.parts![0]!, etag: '"00000000000000000000000000000000"' }] },
    ]);
    await job.runTask(1, { b: 'b' });
    await expectError(job.commit(), 'FOREIGN_OBJECT', /store refuses|ETag/);
    expect(await job.abort()).toEqual({ published: false });
    await expectEnd({});
  });
});
