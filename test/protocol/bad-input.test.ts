import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serviceDefinition } from '../../src/rpc/proto.js';
import {
  bucket,
  closeAllDaemons,
  expectError,
  type RpcError,
  startMemoryDaemon,
  TestJob,
  type MemoryDaemon,
} from '../support/memory-daemon/index.js';

let daemon: MemoryDaemon;
let job: TestJob;
beforeEach(async () => {
  daemon = await startMemoryDaemon();
  job = new TestJob(daemon.client, daemon.memory);
});
afterEach(closeAllDaemons);

const errorOf = (call: Promise<unknown>): Promise<RpcError> =>
  call.then(
    () => {
      throw new Error('the call was answered');
    },
    (error: unknown) => error as RpcError,
  );

describe('malformed ids', () => {
  const badTokens = ['', '.', '..', '-x', 'a/b', '../x', 'a b', 'a\n', 'é', 'x'.repeat(201), 'a\u0000b'];
  it.each(badTokens)('a token %j is refused and nothing is written', async (token) => {
    const named = new TestJob(daemon.client, daemon.memory, { token });
    await expectError(named.setup(), 'INVALID_FIELD', /job\.tokens/);
    await expectError(named.abort(), 'INVALID_FIELD', /job\.tokens/);
    expect(daemon.memory.objects()).toEqual([]);
  });

  it.each(['', 'm', 'm-', 'M-0', 'm-00000000000', '../m-0', 'm-1/2', 'mm-1'])(
    'a task %j is refused',
    async (task) => {
      await job.setup();
      const attempt = { task, attemptNumber: 0, attemptId: 'a' };
      await expectError(daemon.client.setupTask({ job: job.ref, attempt }), 'INVALID_FIELD', /attempt\.task/);
      await expectError(
        daemon.client.commitTask({ job: job.ref, attempt }),
        'INVALID_FIELD',
        /attempt\.task/,
      );
      await expectError(daemon.client.abortTask({ job: job.ref, attempt }), 'INVALID_FIELD', /attempt\.task/);
    },
  );

  it('attempt ids, attempt numbers, job attempts and setup ids out of their range are refused', async () => {
    await job.setup();
    for (const attemptId of ['', 'a b', 'a\n', 'é', 'x'.repeat(257)]) {
      await expectError(job.attempt(0, 0, attemptId).commit(), 'INVALID_FIELD', /attempt_id/);
    }
    await expectError(job.attempt(0, -1).commit(), 'INVALID_FIELD', /attempt_number/);
    for (const jobAttempt of [-1, 1_000_001, 2 ** 31 - 1]) {
      await expectError(job.through(daemon.client, { jobAttempt }).setup(), 'INVALID_FIELD', /job_attempt/);
    }
    for (const setupId of ['', 'a b', 'x'.repeat(129)]) {
      await expectError(job.through(daemon.client, { setupId }).setup(), 'INVALID_FIELD', /setup_id/);
    }
  });

  it('missing messages, unknown enums and long texts are refused by name', async () => {
    await expectError(daemon.client.setupJob({}), 'INVALID_FIELD', /job is missing/);
    await expectError(daemon.client.setupTask({ job: job.ref }), 'INVALID_FIELD', /attempt is missing/);
    const file = { job: job.ref, attempt: job.attempt(0).ref };
    await job.setup();
    await expectError(daemon.client.abortFile(file), 'INVALID_FIELD', /file is missing/);
    await expectError(
      daemon.client.commitTask(job.attempt(0).header, [{}]),
      'INVALID_FIELD',
      /pending is missing/,
    );
    const unknown = job.through(daemon.client, { tokens: ['unknown-enum'] });
    await expectError(unknown.setup({ conflictMode: 77 as never }), 'INVALID_FIELD', /conflict_mode.*77/);
    await expectError(unknown.setup({ conflictScope: 77 as never }), 'INVALID_FIELD', /conflict_scope/);
    await expectError(job.abort({ scope: 77 as never }), 'INVALID_FIELD', /scope/);
    await expectError(job.abort({ reason: 'x'.repeat(1_025) }), 'INVALID_FIELD', /reason/);
    await expectError(unknown.setup({}, { description: 'é'.repeat(513) }), 'INVALID_FIELD', /description/);
  });
});

describe('paths', () => {
  beforeEach(() => job.setup());

  it.each([
    's3a://other-bucket/x',
    's3a://lake/elsewhere/x',
    'gs://lake/tables/x',
    's3a://lake/.commitbridge/jobs/x',
  ])('a file at %s is refused', async (uri) => {
    const opening = daemon.client.openFile({ ...job.attempt(0).header, uri });
    expect((await errorOf(opening)).reason).toMatch(/^(PATH_OUTSIDE_DESTINATION|OUTSIDE_ROOTS)$/);
    expect(daemon.memory.uploads()).toEqual([]);
  });

  it.each([
    ...['', '/', '/../x', '/a/../../x', '/a//b', '/./a', '/a/.', '-sibling/x', '/dir/'],
    ...['/a\u0000b', '/a\nb', '/\u001b[2J', '/a\u007f', '/_SUCCESS', '/_SUCCESS/x', '/_SUCCESS/x/y'],
  ])('a file at the destination + %j is refused', async (tail) => {
    const opening = daemon.client.openFile({ ...job.attempt(0).header, uri: `${job.destination}${tail}` });
    expect((await errorOf(opening)).reason).toMatch(/^(PATH_OUTSIDE_DESTINATION|INVALID_FIELD)$/);
    expect(daemon.memory.uploads()).toEqual([]);
  });

  it.each([
    '',
    'lake/x',
    's3a:/lake',
    's3a://',
    '//lake/x',
    's3a://lake/../x',
    'not a uri',
    `s3a://lake/${'x'.repeat(1_020)}`,
  ])('a destination %j is refused', async (destination) => {
    const there = new TestJob(daemon.client, daemon.memory, { destination });
    await expectError(there.setup(), 'INVALID_FIELD', /job\.destination/);
  });

  it.each([
    's3a://other-bucket/x',
    's3a://lake/.commitbridge/jobs',
    's3a://lake/.commitbridge/jobs/a/b',
    'hdfs://lake/x',
  ])('a destination %s is outside all roots', async (destination) => {
    const there = new TestJob(daemon.client, daemon.memory, { destination });
    for (const call of [there.setup(), there.abort(), there.commit(), there.attempt(0).commit()]) {
      await expectError(call, 'OUTSIDE_ROOTS', /roots/);
    }
  });

  it('a key of the longest length is taken, and one byte more is refused at once', async () => {
    const prefixBytes = Buffer.byteLength(`${job.destination.replace(`s3a://${bucket}/`, '')}/`);
    const longest = '日'.repeat(Math.floor((1_024 - prefixBytes) / 3)).padEnd(1, 'x');
    const exact = longest + 'x'.repeat(1_024 - prefixBytes - Buffer.byteLength(longest));
    await job.runTask(0, { [exact]: 'a' });
    const error = await expectError(job.attempt(1).open(`${exact}x`), 'KEY_TOO_LONG', /1025 bytes/);
    expect(error.trailerBytes).toBeLessThan(8_192);
    await job.commit();
    expect(Object.keys(job.visible())).toEqual([exact]);
  });

  it('with bytes that are no UTF-8 are refused, and a replacement character that was meant is taken', async () => {
    const uri = `${job.destination}/a?b`;
    const encode = serviceDefinition('commitbridge.v1.UploadService')['OpenFile']!.requestSerialize;
    const request = encode({ ...job.attempt(0).header, uri });
    const broken = Buffer.from(request);
    broken[broken.indexOf('a?b') + 1] = 0xff;
    const sent = daemon.client.sendBytes('UploadService', 'OpenFile', broken);
    await expectError(sent, 'INVALID_FIELD', /UTF-8/);
    expect(daemon.memory.uploads()).toEqual([]);
    await job.attempt(0).open('a\ufffdb');
    expect(daemon.memory.uploads()).toHaveLength(1);
  });

  it('below the marker’s are taken where there is no marker', async () => {
    const there = new TestJob(daemon.client, daemon.memory);
    await there.setup({ skipSuccessMarker: true });
    await there.runTask(0, { '_SUCCESS/x': 'x' });
    await there.commit();
    expect(there.visible()).toEqual({ '_SUCCESS/x': 'x' });
  });

  it('of which one is a directory of the other fail the task, or the job, with both named', async () => {
    const attempt = job.attempt(0);
    await attempt.write('a', '1');
    await attempt.write('a/b', '2');
    await expectError(attempt.commit(), 'DUPLICATE_KEY', /\/a is a committed file.*\/a\/b below/);
    const there = new TestJob(daemon.client, daemon.memory);
    await there.setup();
    await there.runTask(0, { 'x/a/b': '1' });
    await there.runTask(1, { 'x/a': '2' });
    await expectError(there.commit(), 'DUPLICATE_KEY', /\/x\/a is a committed file.*\/x\/a\/b below/);
    await there.abort();
    expect([there.visible(), there.openUploads()]).toEqual([{}, []]);
  });

  it('of a sibling or of the destination itself are no file of the job', async () => {
    for (const uri of [job.destination, `${job.destination}2/x`, 's3a://lake/x']) {
      const opening = daemon.client.openFile({ ...job.attempt(0).header, uri });
      await expectError(opening, 'PATH_OUTSIDE_DESTINATION', /job's destination/);
    }
  });

  it('content types that are no header are refused', async () => {
    const request = { ...job.attempt(0).header, uri: `${job.destination}/a` };
    for (const contentType of ['a\r\nx: y', 'é', 'x'.repeat(257)]) {
      await expectError(daemon.client.openFile({ ...request, contentType }), 'INVALID_FIELD', /content_type/);
    }
  });
});

describe('a CommitTask stream', () => {
  beforeEach(() => job.setup());

  it('in the wrong order is refused, and nothing is recorded', async () => {
    const attempt = job.attempt(0);
    const file = await attempt.write('a', 'a');
    const send = async (...messages: object[]): Promise<unknown> => {
      const stream = daemon.client.commitTaskStream();
      for (const message of messages) stream.send(message);
      return stream.end();
    };
    const header = { header: attempt.header };
    const files = { files: { files: [file] } };
    await expectError(send(), 'INVALID_FIELD', /no message/);
    await expectError(send(files), 'INVALID_FIELD', /header/);
    await expectError(send(files, header), 'INVALID_FIELD', /header/);
    await expectError(send(header, header), 'INVALID_FIELD', /must carry files/);
    await expectError(send(header, files, {}), 'INVALID_FIELD', /must carry files/);
    await expectError(send({}, header), 'INVALID_FIELD', /header/);
    expect(job.recordsLeft()).toEqual([]);
    expect(await send(header, files, { files: { files: [] } })).toMatchObject({ files: '1' });
  });

  it('with bytes that are no message is refused, and nothing is recorded', async () => {
    const attempt = job.attempt(0);
    await attempt.write('a', 'a');
    const stream = daemon.client.commitTaskStream();
    stream.send({ header: attempt.header });
    stream.sendBytes(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]));
    await expectError(stream.end(), 'INVALID_FIELD', /protobuf/);
    expect(job.recordsLeft()).toEqual([]);
  });
});

describe('messages', () => {
  it('over the limit are refused, and the daemon goes on', async () => {
    const small = await startMemoryDaemon({ maxMessageBytes: 64 * 1024 });
    const there = new TestJob(small.client, small.memory);
    await there.setup();
    const huge = there.setup({}, { description: 'x'.repeat(200_000) });
    await expectError(huge, 'LIMIT_EXCEEDED', /limits\.maxMessage/);
    const stream = small.client.commitTaskStream();
    stream.send({ header: there.attempt(1).header });
    stream.send({ files: { files: [{ inline: { uri: 'x'.repeat(200_000) } }] } });
    await expectError(stream.end(), 'LIMIT_EXCEEDED', /limits\.maxMessage/);
    expect(there.recordsLeft()).toEqual([]);
    expect((await small.client.getServerInfo({})).limits).toMatchObject({
      maxMessageBytes: String(64 * 1024),
    });
    await there.runTask(0, { a: 'a' });
    await there.commit();
    expect(there.visible()).toEqual({ a: 'a' });
  });

  it('that are no protobuf are the caller’s fault', async () => {
    for (const method of ['SetupJob', 'SetupTask', 'AbortTask', 'CommitJob', 'AbortJob', 'RecoverTask']) {
      const sent = daemon.client.sendBytes('JobService', method, Buffer.from([0x0a, 0xff, 0xff, 0xff, 0x0f]));
      await expectError(sent, 'INVALID_FIELD', /protobuf/);
    }
  });

  it('refused with long texts that are not ASCII have trailers that fit', async () => {
    const destination = `s3a://elsewhere/${'日'.repeat(330)}`;
    const there = new TestJob(daemon.client, daemon.memory, { destination });
    await expectError(there.setup(), 'OUTSIDE_ROOTS', /日/);
  });
});

describe('GetServerInfo', () => {
  it('says versions, planes and limits, of a root or of all', async () => {
    for (const destination of ['', job.destination]) {
      expect(await daemon.client.getServerInfo({ destination })).toMatchObject({
        version: '0.0.0-test',
        minProtocolVersion: 1,
        maxProtocolVersion: 1,
        dataPlanes: ['DATA_PLANE_DIRECT', 'DATA_PLANE_INLINE'],
        limits: { maxKeyBytes: '1024', maxParts: 10_000, minPartBytes: '16', maxSignedParts: 1_000 },
      });
    }
    await expectError(daemon.client.getServerInfo({ destination: 'gs://x/y' }), 'OUTSIDE_ROOTS');
    await expectError(daemon.client.getServerInfo({ destination: 'nonsense' }), 'INVALID_FIELD');
  });
});

describe('a store without presigned URLs', () => {
  it('is said so where files are opened', async () => {
    const other = await startMemoryDaemon({ capabilities: { presign: false } });
    const there = new TestJob(other.client, other.memory);
    await there.setup();
    await expectError(there.attempt(0).open('a'), 'UNSUPPORTED', /commitbridge\.data-plane/);
    expect(other.memory.uploads()).toEqual([]);
  });
});
