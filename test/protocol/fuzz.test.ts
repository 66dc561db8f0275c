import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceDefinition, serviceNames } from '../../src/rpc/proto.js';
import {
  closeAllDaemons,
  RpcError,
  startMemoryDaemon,
  TestJob,
  type DaemonClient,
  type MemoryDaemon,
} from '../support/memory-daemon/index.js';

/** COMMITBRIDGE_SEED replays a run. */
const seed = Number(process.env['COMMITBRIDGE_SEED'] ?? Date.now() % 2 ** 31);
const messages = 10_000;
/** What a caller's own fault, or the state that it meets, may be answered with. */
const proper = new Set([
  'OK',
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'FAILED_PRECONDITION',
]);

let daemon: MemoryDaemon;
let known: TestJob;
beforeAll(async () => {
  daemon = await startMemoryDaemon({ ledgerIntervalMs: 50 });
  known = new TestJob(daemon.client, daemon.memory, { token: 'known' });
  await known.setup();
  process.stderr.write(`fuzz seed: COMMITBRIDGE_SEED=${seed}\n`);
});
afterAll(closeAllDaemons);

const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    '.',
    '..',
    '../..',
    '\u0000',
    'a\u0000b',
    '\r\n',
    '%2e%2e',
    '\ud800',
    '\u202e',
    '💣',
    "'",
    '{{}}',
  ),
  fc.constantFrom(
    'known',
    'm-000000',
    's3a://lake/tables/x',
    's3a://lake',
    's3://',
    's3a://lake/../..',
    '__proto__',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(129, 201, 257, 1_025, 2_049, 70_000).map((length) => 'x'.repeat(length)),
);
const hostileInt = fc.oneof(fc.constantFrom(0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 1_000_001), fc.integer());
const hostileLong = fc.oneof(
  fc.constantFrom('0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'),
  fc.integer().map(String),
);
const maybe = <T>(value: fc.Arbitrary<T>, valid: () => T): fc.Arbitrary<T | null> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(null).map(valid) },
    { weight: 4, arbitrary: value },
    { weight: 1, arbitrary: fc.constant(null) },
  );

const jobRef = maybe(
  fc.record({
    tokens: fc.array(fc.oneof(fc.constant('known'), hostileText), { maxLength: 10 }),
    // Each lower number costs requests: a million of them would be this test's only message.
    jobAttempt: fc.oneof(
      fc.integer({ min: -3, max: 3 }),
      fc.constantFrom(1_000_001, -(2 ** 31), 2 ** 31 - 1),
    ),
    destination: fc.oneof(fc.constant('s3a://lake/tables/fuzz'), hostileText),
  }),
  () => known.ref as never,
);
const attemptRef = maybe(
  fc.record({ task: hostileText, attemptNumber: hostileInt, attemptId: hostileText }),
  () => known.attempt(0, 0, 'fuzz').ref as never,
);
const pendingFile = maybe(
  fc.record({
    uri: hostileText,
    uploadId: hostileText,
    commitbridgeId: hostileText,
    handle: fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
  }),
  () => ({ uri: `${known.destination}/x`, uploadId: 'u', commitbridgeId: 'c', handle: Buffer.alloc(32) }),
);
const closedFile = fc.record({
  pending: pendingFile,
  parts: fc.array(fc.record({ partNumber: hostileInt, etag: hostileText, sizeBytes: hostileLong }), {
    maxLength: 3,
  }),
});
const options = fc.option(
  fc.record({
    conflictMode: fc.nat({ max: 9 }),
    conflictScope: fc.nat({ max: 9 }),
    skipSuccessMarker: fc.boolean(),
    conflictPaths: fc.array(hostileText, { maxLength: 3 }),
    allowOtherLocations: fc.boolean(),
  }),
);
const job = { job: jobRef };
const attempt = { job: jobRef, attempt: attemptRef };

const requests = {
  'JobService.SetupJob': fc.record({
    // A later attempt of the known job would take it over.
    job: jobRef.map((ref: { jobAttempt: number } | null) =>
      ref === null || ref.jobAttempt > 0 ? null : ref,
    ),
    setupId: hostileText,
    options,
    description: hostileText,
    protocolVersion: fc.constantFrom(0, 1, -1, 9),
  }),
  'JobService.SetupTask': fc.record(attempt),
  'JobService.NeedsTaskCommit': fc.record(attempt),
  'JobService.AbortTask': fc.record({
    ...attempt,
    files: fc.array(
      pendingFile.map((file) => file ?? {}),
      { maxLength: 3 },
    ),
  }),
  'JobService.CommitJob': fc.record({
    // Not the known job, which is to be committed at the end.
    job: fc.option(
      fc.record({ tokens: fc.array(hostileText), jobAttempt: hostileInt, destination: hostileText }),
    ),
    exactWinners: fc.option(
      fc.record({
        attempts: fc.array(
          attemptRef.map((ref) => ref ?? {}),
          { maxLength: 3 },
        ),
      }),
    ),
  }),
  'JobService.AbortJob': fc.record({
    job: fc.option(
      fc.record({
        tokens: fc.array(hostileText.filter((text) => text !== 'known')),
        jobAttempt: fc.integer({ min: -3, max: 3 }),
        destination: hostileText,
      }),
    ),
    scope: fc.nat({ max: 9 }),
    reason: hostileText,
  }),
  'JobService.IsCommitJobRepeatable': fc.record(job),
  'JobService.IsRecoverySupported': fc.record(job),
  'JobService.RecoverTask': fc.record({ ...attempt, succeeded: fc.boolean() }),
  'UploadService.OpenFile': fc.record({
    ...attempt,
    uri: fc.oneof(fc.constant('s3a://lake/tables/x/y'), hostileText),
    partsToSign: hostileInt,
    contentType: hostileText,
  }),
  'UploadService.SignParts': fc.record({
    ...attempt,
    file: pendingFile,
    firstPartNumber: hostileInt,
    count: hostileInt,
  }),
  'UploadService.CloseFile': fc.record({ ...attempt, file: fc.option(closedFile) }),
  'UploadService.AbortFile': fc.record({ ...attempt, file: pendingFile }),
  'AdminService.GetServerInfo': fc.record({ destination: hostileText }),
} as const;

type Message =
  | { readonly kind: 'bytes'; readonly rpc: string; readonly bytes: Uint8Array }
  | { readonly kind: 'valid'; readonly rpc: string; readonly request: unknown }
  | {
      readonly kind: 'mutated';
      readonly rpc: string;
      readonly request: unknown;
      readonly at: number;
      readonly by: number;
    }
  | { readonly kind: 'stream'; readonly steps: readonly unknown[]; readonly isCut: boolean };

const streamStep = fc.oneof(
  fc.record({ header: fc.option(fc.record(attempt)) }),
  fc.record({ files: fc.record({ files: fc.array(closedFile, { maxLength: 3 }) }) }),
  fc.constant({}),
  fc.uint8Array({ maxLength: 30 }),
);
const rpcs = Object.keys(requests) as (keyof typeof requests)[];
const requestOf = fc
  .constantFrom(...rpcs)
  .chain((rpc) => (requests[rpc] as fc.Arbitrary<unknown>).map((request) => ({ rpc, request })));
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    kind: fc.constant('bytes' as const),
    rpc: fc.constantFrom(...rpcs),
    bytes: fc.uint8Array({ maxLength: 200 }),
  }),
  { weight: 4, arbitrary: requestOf.map((valid) => ({ kind: 'valid' as const, ...valid })) },
  fc
    .tuple(requestOf, fc.nat(), fc.integer({ min: 1, max: 255 }))
    .map(([valid, at, by]) => ({ kind: 'mutated' as const, ...valid, at, by })),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('stream' as const),
      steps: fc.array(streamStep, { maxLength: 5 }),
      isCut: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    }),
  },
);

function encode(rpc: string, request: object): Buffer {
  const [service = '', method = ''] = rpc.split('.');
  const name = serviceNames.find((candidate) => candidate.endsWith(`.${service}`))!;
  return serviceDefinition(name)[method]!.requestSerialize(request);
}

async function send(client: DaemonClient, sent: Message): Promise<string> {
  try {
    if (sent.kind === 'stream') {
      const stream = client.commitTaskStream();
      for (const step of sent.steps) {
        if (step instanceof Uint8Array) stream.sendBytes(step);
        else stream.send(step as object);
      }
      if (sent.isCut) {
        stream.cancel();
        return 'OK';
      }
      await stream.end();
    } else {
      const [service = '', method = ''] = sent.rpc.split('.');
      const bytes = sent.kind === 'bytes' ? sent.bytes : encode(sent.rpc, sent.request as object);
      if (sent.kind === 'mutated' && bytes.length > 0) bytes[sent.at % bytes.length]! ^= sent.by;
      await client.sendBytes(service, method, bytes);
    }
    return 'OK';
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (error.reason === '') return `${error.code} without details: ${error.message}`;
    return error.trailerBytes > 7_680 ? `trailers of ${error.trailerBytes} bytes` : error.code;
  }
}

function briefly(sent: Message): string {
  return JSON.stringify(sent, (_, value: unknown) =>
    typeof value === 'string' && value.length > 80 ? `${value.slice(0, 10)}… of ${value.length}` : value,
  ).slice(0, 2_000);
}

describe(`${messages} fuzzed messages`, () => {
  it('are each answered properly, and the daemon goes on', async () => {
    const before = daemon.logs.filter(({ level }) => level === 'error').length;
    const seen = new Map<string, number>();
    const property = fc.asyncProperty(fc.array(message, { minLength: 20, maxLength: 20 }), async (batch) => {
      const answers = await Promise.all(batch.map((sent) => send(daemon.client, sent)));
      for (const answer of answers) seen.set(answer, (seen.get(answer) ?? 0) + 1);
      const improper = answers.findIndex((answer) => !proper.has(answer));
      if (improper >= 0) throw new Error(`${answers[improper]} to ${briefly(batch[improper]!)}`);
    });
    const result = await fc.check(property, { seed, numRuns: messages / 20, endOnFailure: true });
    expect(result.failed ? `COMMITBRIDGE_SEED=${seed}: ${String(result.errorInstance)}` : '').toBe('');
    // Else the messages do not get past the first check.
    expect(seen.get('OK')).toBeGreaterThan(messages / 100);
    expect(seen.get('INVALID_ARGUMENT')).toBeGreaterThan(messages / 100);
    const errors = daemon.logs.filter(({ level }) => level === 'error').slice(before);
    expect(errors).toEqual([]);

    await known.runTask(1, { a: 'a' });
    expect(await known.commit()).toMatchObject({ tasks: expect.any(String) as string });
    expect(known.visible()).toMatchObject({ a: 'a' });
    const next = new TestJob(daemon.client, daemon.memory);
    await next.setup();
    await next.runTask(0, { b: 'b' });
    await next.commit();
    expect(next.visible()).toEqual({ b: 'b' });
  }, 300_000);
});
