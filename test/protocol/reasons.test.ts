import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CommitterError, type ErrorReasonName } from '../../src/core/errors.js';
import { packageDefinition } from '../../src/rpc/proto.js';

/** Reasons without a test that provokes them over gRPC, each with why. A new line here wants a review. */
const exceptions: Readonly<Record<string, string>> = {
  UNSPECIFIED: 'never sent',
  INTERNAL: 'a fault of the daemon: the fuzz test expects none',
  CONCURRENT_OPERATION: 'no call answers it yet: races are settled by the daemon',
};

const enumType = packageDefinition['commitbridge.v1.ErrorReason'] as {
  readonly type: { readonly value: readonly { readonly name: string; readonly number: number }[] };
};
const reasons = enumType.type.value.map(({ name }) => name.replace(/^ERROR_REASON_/, ''));

/** Reasons that an `expectError` of this directory names. */
const provoked = new Set(
  readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.test.ts') && name !== 'reasons.test.ts')
    .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
    .flatMap((text) =>
      [...text.matchAll(/expectError\([^;]*?'([A-Z_]{6,})'/gs)].map((match) => match[1] ?? ''),
    ),
);
provoked.add('BUCKET_NOT_FOUND').add('STORE_ACCESS_DENIED'); // by tables in store-faults.test.ts

const proto = readFileSync(new URL('../../proto/commitbridge/v1/errors.proto', import.meta.url), 'utf8');
/** Each value's comment begins with its code. */
const codes = proto
  .split(/\n\s*\n|;\n/)
  .map((block) => /\/\/ ([A-Z_]+): [\s\S]*ERROR_REASON_([A-Z_]+) = \d+$/.exec(block.replace(/;$/, '')))
  .filter((match) => match !== null)
  .map(([, code = '', reason = '']) => ({ code, reason }));

describe('errors.proto', () => {
  it.each(reasons)('%s has a test that provokes it, or a reviewed reason why not', (reason) => {
    expect(provoked.has(reason) !== reason in exceptions).toBe(true);
  });

  it('names all reasons that the engine has, and no other', () => {
    const known = codes.map(({ reason }) => reason).sort();
    expect(known).toEqual(reasons.filter((reason) => reason !== 'UNSPECIFIED').sort());
  });

  it.each(codes)('says $code for $reason, and so does the engine', ({ code, reason }) => {
    expect(new CommitterError(reason as ErrorReasonName, '').code).toBe(code);
  });
});
