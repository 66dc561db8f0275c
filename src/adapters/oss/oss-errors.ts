import type { StoreErrorKind } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';
import { kindOfStatus, parseRetryAfter } from '../http-failures.js';
import { headerOf, type HttpAnswer } from '../lean-transport.js';
import { elementOf } from '../xml-text.js';

/** Error codes of OSS. What isn't here is judged by its HTTP status. */
const KIND_OF_CODE: ReadonlyMap<string, StoreErrorKind> = new Map([
  ['NoSuchKey', 'not-found'],
  ['NoSuchUpload', 'no-such-upload'],
  ['NoSuchBucket', 'no-such-bucket'],
  ['FileAlreadyExists', 'precondition-failed'], // x-oss-forbid-overwrite, with a 409
  ['ObjectAlreadyExists', 'precondition-failed'],
  ['PreconditionFailed', 'precondition-failed'],
  ['OperationAborted', 'conflict'],
  ['InvalidPart', 'invalid-parts'],
  ['InvalidPartOrder', 'invalid-parts'],
  ['InvalidPartNumber', 'invalid-parts'],
  ['EntityTooSmall', 'invalid-parts'],
  ['EntityTooLarge', 'invalid-parts'],
  ['AccessDenied', 'access-denied'],
  ['AccessForbidden', 'access-denied'],
  ['InvalidAccessKeyId', 'access-denied'],
  ['SignatureDoesNotMatch', 'access-denied'],
  ['UserDisable', 'access-denied'],
  ['SecurityTokenExpired', 'expired-credentials'],
  ['InvalidSecurityToken', 'expired-credentials'],
  ['TotalQpsLimitExceeded', 'throttled'],
  ['QpsLimitExceeded', 'throttled'],
  ['MetaOperationQpsLimitExceeded', 'throttled'],
  ['UserQpsLimitExceeded', 'throttled'],
  ['ServiceUnavailable', 'throttled'],
  ['SlowDown', 'throttled'],
  ['Throttling', 'throttled'],
  ['RequestLimitExceeded', 'throttled'],
  ['ConnectionLimitExceeded', 'throttled'],
  ['TrafficRateLimitExceeded', 'throttled'],
  ['UploadTrafficRateLimitExceeded', 'throttled'],
  ['DownloadTrafficRateLimitExceeded', 'throttled'],
  ['InternalError', 'unavailable'],
  // Bytes were damaged on the way: send them again.
  ['BadDigest', 'unavailable'],
  ['InvalidDigest', 'unavailable'],
  ['IncompleteBody', 'unavailable'],
  ['RequestTimeTooSkewed', 'unavailable'], // the connection learns the store's time from this answer
  ['RequestTimeout', 'timeout'],
  ['NotImplemented', 'unsupported'],
  ['MethodNotAllowed', 'unsupported'],
]);

/**
 * Of an answer that is no success, or says that it is one and isn't. The one place that knows the names of OSS's
 * errors. `isTemporary`: it was sent with credentials that end.
 */
export function failureOf(answer: HttpAnswer, isTemporary: boolean): StoreError {
  const { status } = answer;
  const body = answer.body.toString();
  const text = body.trim() === '' ? decodedHeader(headerOf(answer, 'x-oss-err')) : body;
  const code = elementOf(text, 'Code');
  const ec = headerOf(answer, 'x-oss-ec') ?? elementOf(text, 'EC');
  const requestId = headerOf(answer, 'x-oss-request-id');
  const message = elementOf(text, 'Message') ?? `the store answered ${status}`;
  const retryAfterMs = parseRetryAfter(headerOf(answer, 'retry-after'));
  const facts = [
    ...(code === undefined ? [] : [`code=${code}`]),
    ...(ec === undefined ? [] : [`ec=${ec}`]),
    `status=${status}`,
    ...(requestId === undefined ? [] : [`request_id=${requestId}`]),
  ];
  return new StoreError(kindOf(code, status, isTemporary), [hinted(message, code), ...facts].join(' '), {
    status,
    ...(code !== undefined && { code }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** There is no object of that key, says the answer to a GET: what {@link failureOf} calls `not-found`, without the cost of an error. */
export function isNoSuchKey({ status, body }: HttpAnswer): boolean {
  return status === 404 && elementOf(body.toString(), 'Code') === 'NoSuchKey';
}

/** A connection that broke before an answer came: whether the request had an effect is unknown. */
export function networkError(error: unknown, signal: AbortSignal | undefined): StoreError {
  if (signal?.aborted === true)
    return new StoreError('cancelled', 'the call was cancelled', { cause: signal.reason });
  if (error instanceof StoreError) return error;
  const { code = 'unknown' } = (error ?? {}) as { readonly code?: string };
  const kind = code === 'ETIMEDOUT' || code === 'ESOCKETTIMEDOUT' ? 'timeout' : 'unavailable';
  return new StoreError(kind, `the connection failed before an answer came code=${code}`, {
    code,
    cause: error,
  });
}

function kindOf(code: string | undefined, status: number, isTemporary: boolean): StoreErrorKind {
  // A key id of STS that has ended is one that the store no longer knows.
  if (code === 'InvalidAccessKeyId' && isTemporary) return 'expired-credentials';
  const byCode = code === undefined ? undefined : KIND_OF_CODE.get(code);
  return byCode ?? (status === 409 ? 'conflict' : kindOfStatus(status));
}

/** OSS refuses path style on all but a few endpoints, in words that name no key. */
function hinted(message: string, code: string | undefined): string {
  if (code !== 'SecondLevelDomainForbidden') return message;
  return `${message} (set stores.NAME.pathStyle to false: this endpoint takes bucket.endpoint only)`;
}

/** The answer to a HEAD has no body; its error comes in a header. */
function decodedHeader(value: string | undefined): string {
  return value === undefined ? '' : Buffer.from(value, 'base64').toString();
}
