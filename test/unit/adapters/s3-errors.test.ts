import { describe, expect, it } from 'vitest';
import { toStoreError } from '../../../src/adapters/s3/s3-errors.js';
import type { StoreErrorKind } from '../../../src/ports/object-store.js';
import { StoreError } from '../../../src/ports/object-store.js';

/** An answer with an S3 error in it, as the SDK throws it. */
function answered(code: string, status: number): unknown {
  return Object.assign(new Error('Said the store.'), {
    name: code,
    Code: code,
    $metadata: { httpStatusCode: status },
  });
}

function errno(code: string): unknown {
  return Object.assign(new Error(`connect ${code}`), { code });
}

const BY_CODE: readonly (readonly [code: string, status: number, kind: StoreErrorKind])[] = [
  ['NoSuchKey', 404, 'not-found'],
  ['NotFound', 404, 'invalid'],
  ['NoSuchUpload', 404, 'no-such-upload'],
  ['NoSuchBucket', 404, 'no-such-bucket'],
  ['PreconditionFailed', 412, 'precondition-failed'],
  ['ConditionalRequestConflict', 409, 'conflict'],
  ['OperationAborted', 409, 'conflict'],
  ['InvalidPart', 400, 'invalid-parts'],
  ['InvalidPartOrder', 400, 'invalid-parts'],
  ['EntityTooSmall', 400, 'invalid-parts'],
  ['EntityTooLarge', 400, 'invalid-parts'],
  ['KeyTooLongError', 400, 'key-too-long'],
  ['AccessDenied', 403, 'access-denied'],
  ['InvalidAccessKeyId', 403, 'access-denied'],
  ['SignatureDoesNotMatch', 403, 'access-denied'],
  ['ExpiredToken', 400, 'expired-credentials'],
  ['InvalidToken', 400, 'expired-credentials'],
  ['SlowDown', 503, 'throttled'],
  ['ServiceUnavailable', 503, 'throttled'],
  ['TooManyRequests', 429, 'throttled'],
  ['InternalError', 500, 'unavailable'],
  ['InternalError', 200, 'unavailable'],
  ['BadDigest', 400, 'unavailable'],
  ['RequestTimeTooSkewed', 403, 'unavailable'],
  ['RequestTimeout', 400, 'timeout'],
  ['NotImplemented', 501, 'unsupported'],
  ['MethodNotAllowed', 405, 'unsupported'],
  ['InvalidBucketName', 400, 'invalid'],
  ['BucketNotEmpty', 409, 'invalid'],
  ['PermanentRedirect', 301, 'invalid'],
];

const BY_STATUS: readonly (readonly [status: number, kind: StoreErrorKind])[] = [
  [200, 'unavailable'],
  [301, 'invalid'],
  [400, 'invalid'],
  [401, 'access-denied'],
  [403, 'access-denied'],
  [404, 'invalid'],
  [408, 'timeout'],
  [409, 'invalid'],
  [412, 'precondition-failed'],
  [429, 'throttled'],
  [500, 'unavailable'],
  [501, 'unsupported'],
  [502, 'unavailable'],
  [503, 'unavailable'],
  [504, 'unavailable'],
];

const BY_ERRNO: readonly (readonly [code: string, kind: StoreErrorKind])[] = [
  ['ECONNREFUSED', 'unavailable'],
  ['ECONNRESET', 'unavailable'],
  ['EPIPE', 'unavailable'],
  ['ENOTFOUND', 'unavailable'],
  ['EAI_AGAIN', 'unavailable'],
  ['HPE_INVALID_CONSTANT', 'unavailable'],
  ['ETIMEDOUT', 'timeout'],
  ['CERT_HAS_EXPIRED', 'invalid'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'invalid'],
];

describe('toStoreError', () => {
  it.each(BY_CODE)('%s with %i is %s', (code, status, kind) => {
    expect(toStoreError(answered(code, status))).toMatchObject({ kind, details: { code, status } });
  });

  it.each(BY_STATUS)('%i without a known code is %s', (status, kind) => {
    expect(toStoreError(answered('Whatever', status))).toMatchObject({ kind, details: { status } });
  });

  it.each(BY_ERRNO)('a connection that fails with %s is %s', (code, kind) => {
    expect(toStoreError(errno(code))).toMatchObject({ kind, details: { code } });
  });

  it('a reset connection that the SDK calls a TimeoutError is unavailable', () => {
    const error = Object.assign(new Error('read ECONNRESET'), { name: 'TimeoutError', code: 'ECONNRESET' });
    expect(toStoreError(error)).toMatchObject({ kind: 'unavailable', details: { code: 'ECONNRESET' } });
  });

  it('an error after the signal is cancelled, whatever it is', () => {
    expect(toStoreError(errno('ECONNRESET'), AbortSignal.abort())).toMatchObject({ kind: 'cancelled' });
  });

  it('a signal that has not fired means nothing', () => {
    expect(toStoreError(errno('ECONNRESET'), new AbortController().signal)).toMatchObject({
      kind: 'unavailable',
    });
  });

  it('keeps the cause', () => {
    const cause = answered('SlowDown', 503);
    expect(toStoreError(cause).cause).toBe(cause);
  });

  it('leaves a StoreError alone', () => {
    const error = new StoreError('conflict', 'x');
    expect(toStoreError(error)).toBe(error);
  });

  it.each([undefined, null, 'text', 7])('takes %s for invalid', (thrown) => {
    expect(toStoreError(thrown)).toMatchObject({ kind: 'invalid' });
  });

  it.each([
    ['3', 3_000],
    ['0', 0],
    ['', undefined],
    ['-1', undefined],
    ['Fri, 31 Dec 1999 23:59:59 GMT', undefined],
    [undefined, undefined],
  ])('Retry-After %j is %s ms', (value, expected) => {
    const headers = value === undefined ? {} : { 'retry-after': value };
    const error = Object.assign(new Error('x'), {
      name: 'SlowDown',
      $response: { statusCode: 503, headers },
    });
    expect(toStoreError(error).details.retryAfterMs).toBe(expected);
  });
});
