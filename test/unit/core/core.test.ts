import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/core/canonical-json.js';
import { signHandle, verifyHandle, type HandleClaims } from '../../../src/core/handle.js';
import {
  parseAttemptId,
  parseAttemptNumber,
  parseJobAttempt,
  parseSetupId,
  parseTask,
  parseToken,
  type JobToken,
  type TaskName,
} from '../../../src/core/ids.js';
import { PartPlan, type PartLimits } from '../../../src/core/part-planning.js';
import { JobLayout, parseJobAttempts, parseTokens } from '../../../src/core/staging-layout.js';
import { formatUri, isWithin, parentKey, parseUri } from '../../../src/core/uri.js';
import { compareUtf8, sortUtf8, utf8Length } from '../../../src/core/utf8.js';
import { reasonOf } from '../../support/reason-of.js';

const MiB = 1024 ** 2;
describe('compareUtf8', () => {
  it('orders as the bytes of UTF-8 do', () => {
    // Lone surrogates have no UTF-8 of their own.
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('a', '/', '\uffff', '\ue000', '😀', 'é'),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
      ),
    });
    const inBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
    fc.assert(
      fc.property(fc.array(text), (texts) => {
        expect(sortUtf8([...texts])).toEqual([...texts].sort(inBytes));
      }),
    );
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(inBytes(a, b));
      }),
      { numRuns: 2_000 },
    );
  });

  it('counts bytes as stores do', () => {
    expect([utf8Length('a'), utf8Length('é'), utf8Length('日'), utf8Length('😀')]).toEqual([1, 2, 3, 4]);
  });
});

describe('parseUri', () => {
  it.each([
    ['s3a://lake/a/b', { scheme: 's3', bucket: 'lake', key: 'a/b' }],
    ['S3N://lake', { scheme: 's3', bucket: 'lake', key: '' }],
    ['s3://lake/', { scheme: 's3', bucket: 'lake', key: '' }],
    ['oss://lake/a//', { scheme: 'oss', bucket: 'lake', key: 'a' }],
    [
      's3a://lake/a%20b/c d/e+f#g?h=日😀\\',
      { scheme: 's3', bucket: 'lake', key: 'a%20b/c d/e+f#g?h=日😀\\' },
    ],
    ['s3a://lake/.hidden/..x/...', { scheme: 's3', bucket: 'lake', key: '.hidden/..x/...' }],
  ])('reads %s and decodes nothing', (text, expected) => {
    expect(parseUri(text, 'uri')).toEqual(expected);
  });

  it.each([
    '',
    '/a/b',
    's3a:/lake/a',
    's3a:///a',
    '://lake/a',
    's3a://lake/a//b',
    's3a://lake//a',
    's3a://lake/a/../b',
    's3a://lake/..',
    's3a://lake/.',
    's3a://lake/./a',
    's3a://lake/a\u0000',
    's3a://lake/a\tb',
    's3a://lake/a/\u001b[0m',
    's3a://lake/a\u007f',
    's3a://lake/\ud800',
    's3a://lake/\ude00\ud83d',
    `s3a://lake/${'a'.repeat(2_048)}`,
  ])('refuses %j', (text) => {
    expect(reasonOf(() => parseUri(text, 'uri'))).toBe('INVALID_FIELD');
  });

  it('reads what formatUri wrote', () => {
    const segment = fc
      .string({ minLength: 1, maxLength: 8 })
      .filter((s) => !s.includes('/') && !s.includes('\u0000') && s !== '.' && s !== '..');
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 4 }), (segments) => {
        const uri = { scheme: 's3', bucket: 'lake', key: segments.join('/') };
        expect(parseUri(formatUri(uri), 'uri')).toEqual(uri);
      }),
    );
  });

  it('keeps siblings apart whose names begin alike', () => {
    const at = (text: string) => parseUri(text, 'uri');
    expect(isWithin(at('s3a://b/t'), at('s3n://b/t/x'))).toBe(true);
    expect(isWithin(at('s3a://b/t'), at('s3a://b/t'))).toBe(true);
    expect(isWithin(at('s3a://b/t'), at('s3a://b/t2/x'))).toBe(false);
    expect(isWithin(at('s3a://b/t'), at('oss://b/t/x'))).toBe(false);
    expect(isWithin(at('s3a://b'), at('s3a://b2/x'))).toBe(false);
    expect([parentKey('a/b/c'), parentKey('a')]).toEqual(['a/b', '']);
  });
});

describe('ids', () => {
  it.each([
    [
      parseToken,
      ['a', '0-9._x', 'a'.repeat(200)],
      ['', '-a', '.a', 'a/b', 'a b', 'a\n', 'é', 'a'.repeat(201)],
    ],
    [parseTask, ['m-0', 'r-0000000000'], ['', 'm', 'm-', 'M-0', 'mm-0', 'm-00000000000', 'm-0\n', 'm-1/0']],
    [parseSetupId, ['a', '-', 'a'.repeat(128)], ['', 'a/b', 'a\n', 'a'.repeat(129)]],
    [parseAttemptId, ['a', '!~', 'a'.repeat(256)], ['', ' ', 'a\n', '\u007f', 'a'.repeat(257)]],
  ] as const)('%o takes what its pattern says and nothing else', (parse, good, bad) => {
    for (const text of good) expect(parse(text)).toBe(text);
    for (const text of bad) expect([text, reasonOf(() => parse(text))]).toEqual([text, 'INVALID_FIELD']);
  });

  it('are whole numbers within their range', () => {
    expect([parseJobAttempt(0), parseJobAttempt(1_000), parseAttemptNumber(2 ** 31 - 1)]).toEqual([
      0,
      1_000,
      2 ** 31 - 1,
    ]);
    for (const value of [-1, 0.5, NaN, Infinity, 1_001])
      expect(reasonOf(() => parseJobAttempt(value))).toBe('INVALID_FIELD');
    for (const value of [-1, 2 ** 31])
      expect(reasonOf(() => parseAttemptNumber(value))).toBe('INVALID_FIELD');
  });
});

describe('the part plan', () => {
  const s3: PartLimits = {
    minPartBytes: 5 * MiB,
    maxPartBytes: 5 * 1024 * MiB,
    maxParts: 10_000,
    maxObjectBytes: 5 * 1024 ** 2 * MiB,
    equalParts: false,
  };
  const reach = (plan: PartPlan): number => {
    let bytes = 0;
    for (let part = 1; part <= plan.limits.maxParts; part++) bytes += plan.sizeOf(part);
    return bytes;
  };

  it('passes 48.8 GiB, where 10,000 parts of 5 MiB end, and reaches the longest object (HADOOP-16900)', () => {
    const plan = new PartPlan(s3, 5 * MiB);
    expect(10_000 * plan.sizeOf(1)).toBeLessThan(49 * 1024 * MiB);
    expect(reach(plan)).toBeGreaterThanOrEqual(s3.maxObjectBytes);
  });

  it('reaches the longest object, with sizes that never shrink nor leave the limits', () => {
    const limits = fc.record({
      minPartBytes: fc.integer({ min: 1, max: 5 * MiB }),
      maxParts: fc.integer({ min: 100, max: 10_000 }),
      first: fc.integer({ min: 1, max: 64 * MiB }),
    });
    fc.assert(
      fc.property(limits, ({ minPartBytes, maxParts, first }) => {
        const maxPartBytes = 5 * 1024 * MiB;
        const plan = new PartPlan(
          { minPartBytes, maxPartBytes, maxParts, maxObjectBytes: 100 * 1024 * MiB, equalParts: false },
          first,
        );
        let before = 0;
        for (let part = 1; part <= maxParts; part++) {
          const size = plan.sizeOf(part);
          expect(size >= before && size >= minPartBytes && size <= maxPartBytes).toBe(true);
          before = size;
        }
        expect(reach(plan)).toBeGreaterThanOrEqual(100 * 1024 * MiB);
      }),
      { numRuns: 20 },
    );
  });

  it('doubles with each of the first parts: a file of 256 MiB is sent in 7', () => {
    const plan = new PartPlan(s3, 8 * MiB);
    const sizes = [1, 2, 3, 4, 5, 6, 1_000, 1_001].map((part) => plan.sizeOf(part) / MiB);
    expect(sizes).toEqual([8, 16, 32, 64, 64, 64, 64, 128]);
  });

  it('keeps one size where the store wants equal parts', () => {
    const plan = new PartPlan({ ...s3, equalParts: true }, 8 * MiB);
    expect(new Set([1, 1_000, 5_000, 10_000].map((part) => plan.sizeOf(part)))).toEqual(new Set([8 * MiB]));
  });

  it('begins no smaller than the store takes', () => {
    expect(new PartPlan(s3, 1).sizeOf(1)).toBe(5 * MiB);
  });
});

describe('canonical JSON', () => {
  it('is one text for one value, and JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value as never))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(canonicalJson({ b: 1, a: { d: undefined, c: [true, null] } })).toBe(
      '{"a":{"c":[true,null]},"b":1}',
    );
  });
});

describe('a handle', () => {
  const key = Buffer.alloc(32, 1);
  const claims: HandleClaims = {
    ...{
      token: 'job' as JobToken,
      jobAttempt: 1,
      scheme: 's3',
      bucket: 'b',
      key: 'k',
      uploadId: 'u',
      commitbridgeId: 'c',
    },
    attempt: { task: 'm-0' as TaskName, number: 0, id: 'a' },
  };
  const handle = signHandle(key, claims);

  it('verifies for what it was made for', () => {
    expect(verifyHandle(key, { ...claims, attempt: { ...claims.attempt } }, handle)).toBe(true);
  });

  it.each(['token', 'jobAttempt', 'scheme', 'bucket', 'key', 'uploadId', 'commitbridgeId'] as const)(
    'does not where %s differs',
    (field) => {
      expect(verifyHandle(key, { ...claims, [field]: field === 'jobAttempt' ? 2 : 'x' }, handle)).toBe(false);
    },
  );

  it.each(['task', 'number', 'id'] as const)('does not where the attempt’s %s differs', (field) => {
    const attempt = { ...claims.attempt, [field]: field === 'number' ? 1 : 'x' };
    expect(verifyHandle(key, { ...claims, attempt }, handle)).toBe(false);
  });

  it('does not where text moved from one field into the next', () => {
    expect(verifyHandle(key, { ...claims, bucket: 'bk', key: '' }, handle)).toBe(false);
    expect(verifyHandle(key, { ...claims, uploadId: 'u1:c', commitbridgeId: '' }, handle)).toBe(false);
  });

  it('does not under another key, or where a bit of it differs', () => {
    expect(verifyHandle(Buffer.alloc(32, 2), claims, handle)).toBe(false);
    for (let bit = 0; bit < 256; bit++) {
      const flipped = Buffer.from(handle);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      expect(verifyHandle(key, claims, flipped)).toBe(false);
    }
    expect(verifyHandle(key, claims, handle.subarray(1))).toBe(false);
  });
});

describe('the layout of the staging root', () => {
  const token = 'job' as JobToken;
  const layout = new JobLayout('staging', token, 3);

  it('reads the names that it makes, and no others', () => {
    const task = 'm-000012' as TaskName;
    expect(layout.parseRecordKey(layout.record(task, 65_536))).toEqual({ task, attemptNumber: 65_536 });
    for (const name of [
      'staging/job/3/tasks/m-1',
      'staging/job/3/tasks/m-1/x',
      'staging/job/3/tasks/m-1/2/3',
      'staging/job/4/tasks/m-1/2',
      'x',
    ]) {
      expect(layout.parseRecordKey(name)).toBeUndefined();
    }
  });

  it('orders ledger segments of a daemon as they were written', () => {
    expect(layout.ledgerSegment('s', 9) < layout.ledgerSegment('s', 10)).toBe(true);
  });

  it('lists job attempts and tokens, and skips what is neither', () => {
    expect(parseJobAttempts('p/', ['p/10/', 'p/9/', 'p/x/', 'p/-1/'])).toEqual([9, 10]);
    expect(parseTokens('p/', ['p/a/', 'p/.x/', 'p/b-1/'])).toEqual(['a', 'b-1']);
  });
});
