import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JobToken, TaskName } from '../../../src/core/ids.js';
import {
  decodeAttemptRecord,
  encodeAttemptRecord,
  pendingSetDigest,
  type PendingSet,
  type Tombstone,
} from '../../../src/core/records/attempt-record.js';
import { decodeClaim, encodeClaim } from '../../../src/core/records/claim.js';
import { decodeClosedFile, encodeClosedFile } from '../../../src/core/records/closed-file.js';
import { decodeDecision, encodeDecision } from '../../../src/core/records/decision.js';
import { decodeJobRecord, encodeJobRecord } from '../../../src/core/records/job-record.js';
import { decodeLedgerSegment, encodeLedgerSegment } from '../../../src/core/records/ledger-segment.js';
import { decodeOutcome, encodeOutcome } from '../../../src/core/records/outcome.js';
import { decodePlan, encodePlan, type Plan } from '../../../src/core/records/plan.js';
import { encodeSuccessMarker } from '../../../src/core/records/success-marker.js';

/**
 * Files that an earlier version may have left in a store. They are written once, with COMMITBRIDGE_WRITE_GOLDEN=1,
 * and never changed: a new version of a format gets new files beside them.
 */
const directory = fileURLToPath(new URL('../../golden/v1/', import.meta.url));

const token = 'job-1' as JobToken;
const attempt = { task: 'm-000012' as TaskName, number: 3, id: 'attempt_20240101_0001_m_000012_3' };
const identity = {
  scheme: 's3',
  bucket: 'lake',
  key: 'tables/t/日本=é/part-0',
  uploadId: 'U+/=1',
  commitbridgeId: '00ff',
};
const pendingSet: PendingSet = {
  kind: 'pendingset',
  inline: [],
  token,
  attempt,
  root: 's3://lake/tables',
  files: [
    { ...identity, lengthBytes: 9_007_199_254_740_991, etags: ['"a"', '"b"'] },
    { ...identity, key: 'tables/t/empty', uploadId: 'U2', lengthBytes: 0, etags: ['"d41d"'] },
  ],
};
const tombstone: Tombstone = { kind: 'tombstone', token, attempt, named: [identity] };
const plan: Plan = {
  token,
  jobAttempt: 1,
  winners: [{ jobAttempt: 1, attempt, files: 2, bytes: 10, digest: pendingSetDigest(pendingSet) }],
  deletions: [{ scheme: 's3', bucket: 'lake', key: 'tables/t/old', etag: '"e"' }],
  overwrites: ['s3://lake/tables/t/empty'],
};
const job = {
  token,
  jobAttempt: 1,
  destination: 's3://lake/tables/t',
  setupId: 'setup',
  fingerprint: 'f'.repeat(64),
  principal: 'alice',
  options: {
    conflictMode: 'replace',
    conflictScope: 'paths',
    conflictPaths: ['s3://lake/tables/t/p=1'],
    allowOtherLocations: true,
    successMarker: true,
  },
  hmacKey: Buffer.alloc(32, 7).toString('base64'),
  description: 'nightly “load”',
  createdAt: '2026-01-02T03:04:05.678Z',
} as const;
const at = '2026-01-02T03:04:05.678Z';
const commit = {
  decision: 'commit',
  plan: '0'.repeat(64),
  tasks: 1,
  files: 2,
  bytes: 10,
  overwrites: 1,
  deletions: 1,
  decidedAt: at,
} as const;

const planOfClaims: Plan = {
  ...plan,
  winners: plan.winners.map((winner) => ({ ...winner, claim: 'c'.repeat(64) })),
};

interface Format {
  /** As this version writes it; JSON lines for plans. */
  readonly encode: () => Uint8Array;
  /** Reads it and writes what was read; none for what is only written. */
  readonly reencode?: (body: Uint8Array) => Uint8Array;
}

function format<T>(
  value: T,
  encode: (value: T) => Uint8Array,
  decode: (body: Uint8Array, where: string) => T,
): Format {
  return { encode: () => encode(value), reencode: (body) => encode(decode(body, 'golden')) };
}

const formats: Readonly<Record<string, Format>> = {
  'job.json': format(job, encodeJobRecord, decodeJobRecord as never),
  'job-that-adopts.json': format(
    { ...job, jobAttempt: 2, adopts: 1 },
    encodeJobRecord,
    decodeJobRecord as never,
  ),
  'pendingset.json': format(pendingSet, encodeAttemptRecord, decodeAttemptRecord as never),
  'tombstone-created.json': format(tombstone, encodeAttemptRecord, decodeAttemptRecord as never),
  'tombstone-over-pendingset.json': format(
    { ...tombstone, named: [], replaced: pendingSet },
    encodeAttemptRecord,
    decodeAttemptRecord as never,
  ),
  'ledger-segment.json': format([identity], encodeLedgerSegment, decodeLedgerSegment as never),
  'decision-commit.json': format(commit, encodeDecision, decodeDecision as never),
  'decision-abort.json': format(
    { decision: 'abort', reason: 'FAILED', decidedAt: at } as const,
    encodeDecision,
    decodeDecision as never,
  ),
  'decision-superseded.json': format(
    { decision: 'superseded', by: 2, decidedAt: at } as const,
    encodeDecision,
    decodeDecision as never,
  ),
  ...Object.fromEntries(
    (['published', 'done'] as const).map((outcome) => [
      `outcome-${outcome}.json`,
      format({ outcome, at }, encodeOutcome, decodeOutcome as never),
    ]),
  ),
  ...Object.fromEntries(
    (['rollback', 'rolled-back'] as const).map((outcome) => [
      `outcome-${outcome}.json`,
      format({ outcome, at, reason: 'KILLED' }, encodeOutcome, decodeOutcome as never),
    ]),
  ),
  'job-task-records.json': format(
    { ...job, options: { ...job.options, taskRecords: 'store' } } as const,
    encodeJobRecord,
    decodeJobRecord as never,
  ),
  'job-task-records-driver.json': format(
    { ...job, options: { ...job.options, taskRecords: 'driver' } } as const,
    encodeJobRecord,
    decodeJobRecord as never,
  ),
  'claim.jsonl': {
    encode: () => encodeClaim(token, 1, [encodeAttemptRecord(pendingSet)]).body,
    reencode: (body) => {
      const { hash } = encodeClaim(token, 1, [encodeAttemptRecord(pendingSet)]);
      const claim = decodeClaim(body, hash, 'golden');
      return encodeClaim(claim.token, claim.jobAttempt, claim.sets.map(encodeAttemptRecord)).body;
    },
  },
  'plan-of-claims.jsonl': {
    encode: () => encodePlan(planOfClaims).body,
    reencode: (body) => encodePlan(decodePlan(body, encodePlan(planOfClaims).hash, 'golden')).body,
  },
  'closed-file.json': format(
    { token, attempt, file: pendingSet.files[0]! },
    encodeClosedFile,
    decodeClosedFile as never,
  ),
  'plan.jsonl': {
    encode: () => encodePlan(plan).body,
    reencode: (body) => encodePlan(decodePlan(body, encodePlan(plan).hash, 'golden')).body,
  },
  'success-marker.json': {
    encode: () =>
      encodeSuccessMarker({
        ...{ token, jobAttempt: 1, files: 2, bytes: 10, tasks: 1, decidedAt: at, description: 'd' },
        keys: ['tables/t/empty'],
      }),
  },
};

describe('golden files of version 1', () => {
  for (const [name, { encode, reencode }] of Object.entries(formats)) {
    const path = join(directory, name);
    if (process.env['COMMITBRIDGE_WRITE_GOLDEN'] === '1' && !existsSync(path)) writeFileSync(path, encode());

    it(`${name} is what this version writes`, () => {
      expect(Buffer.from(encode()).toString()).toBe(readFileSync(path, 'utf8'));
    });

    if (reencode !== undefined) {
      it(`${name} is read, and written as the same bytes`, () => {
        expect(Buffer.from(reencode(readFileSync(path))).toString()).toBe(readFileSync(path, 'utf8'));
      });

      it(`${name} damaged in any way is refused as a whole, or read as what it says`, () => {
        const body = readFileSync(path);
        const text = body.toString();
        const damaged = [
          body.subarray(0, 0),
          body.subarray(0, body.length >> 1),
          Buffer.concat([body, Buffer.from([0xff])]),
          Buffer.from(text.replace('/1"', '/2"')),
          Buffer.from(text.replaceAll(':[', ':"').replaceAll('"format"', '"FORMAT"')),
          Buffer.from('[]'),
          Buffer.from('null'),
        ];
        for (const bytes of damaged) {
          expect(() => reencode(bytes)).toThrow(/the record golden cannot be used/);
        }
      });
    }
  }

  it('has no file that no test reads', () => {
    expect(readdirSync(directory).sort()).toEqual(Object.keys(formats).sort());
  });
});

describe('a plan', () => {
  const { body, hash } = encodePlan(plan);

  it('whose lines are fewer than its header says is refused, though the hash is right', () => {
    const cut = Buffer.from(Buffer.from(body).toString().split('\n').slice(0, -2).join('\n'));
    expect(() => decodePlan(cut, hash, 'golden')).toThrow(/hash/);
  });

  it('is the same bytes for the same plan, whatever the order of its fields', () => {
    const { overwrites, ...rest } = plan;
    expect(encodePlan({ overwrites, ...rest }).hash).toBe(hash);
  });
});

describe('the digest of a pendingset', () => {
  it('is the same before and after a tombstone took it in', () => {
    const buried = decodeAttemptRecord(
      encodeAttemptRecord({ ...tombstone, named: [], replaced: pendingSet }),
      'x',
    );
    expect(buried.kind === 'tombstone' && pendingSetDigest(buried.replaced!)).toBe(
      pendingSetDigest(pendingSet),
    );
  });

  it.each(['lengthBytes', 'uploadId', 'key', 'etags', 'commitbridgeId', 'bucket'] as const)(
    'depends on %s',
    (field) => {
      const [first, ...others] = pendingSet.files;
      const changed = {
        ...first!,
        [field]: field === 'lengthBytes' ? 1 : field === 'etags' ? ['"c"'] : 'other',
      };
      expect(pendingSetDigest({ ...pendingSet, files: [changed, ...others] })).not.toBe(
        pendingSetDigest(pendingSet),
      );
    },
  );
});
