import type { StoreErrorKind } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';
import { kindOfStatus, parseRetryAfter } from '../http-failures.js';

/** Error codes of S3 and of servers that speak its protocol. What isn't here is judged by its HTTP status. */
const KIND_OF_CODE: ReadonlyMap<string, StoreErrorKind> = new Map([
  ['NoSuchKey', 'not-found'],
  ['NoSuchUpload', 'no-such-upload'],
  ['NoSuchBucket', 'no-such-bucket'],
  ['PreconditionFailed', 'precondition-failed'],
  ['ConditionalRequestConflict', 'conflict'],
  ['OperationAborted', 'conflict'],
  ['InvalidPart', 'invalid-parts'],
  ['InvalidPartOrder', 'invalid-parts'],
  ['InvalidPartNumber', 'invalid-parts'],
  ['EntityTooSmall', 'invalid-parts'],
  ['EntityTooLarge', 'invalid-parts'],
  ['KeyTooLongError', 'key-too-long'],
  ['KeyTooLong', 'key-too-long'],
  ['AccessDenied', 'access-denied'],
  ['AccountProblem', 'access-denied'],
  ['AllAccessDisabled', 'access-denied'],
  ['InvalidAccessKeyId', 'access-denied'],
  ['SignatureDoesNotMatch', 'access-denied'],
  ['XAdminUserNotFound', 'access-denied'], // versitygw of an unknown key id, with a 404
  ['CredentialsProviderError', 'access-denied'], // the SDK found none
  ['ExpiredToken', 'expired-credentials'],
  ['ExpiredTokenException', 'expired-credentials'],
  ['InvalidToken', 'expired-credentials'],
  ['TokenRefreshRequired', 'expired-credentials'],
  ['SlowDown', 'throttled'],
  ['SlowDownRead', 'throttled'],
  ['SlowDownWrite', 'throttled'],
  ['ServiceUnavailable', 'throttled'],
  ['Throttling', 'throttled'],
  ['ThrottlingException', 'throttled'],
  ['RequestLimitExceeded', 'throttled'],
  ['TooManyRequests', 'throttled'],
  ['BandwidthLimitExceeded', 'throttled'],
  ['InternalError', 'unavailable'],
  ['BadDigest', 'unavailable'], // bytes were damaged on the way: send them again
  ['IncompleteBody', 'unavailable'],
  ['XAmzContentSHA256Mismatch', 'unavailable'],
  ['XAmzContentChecksumMismatch', 'unavailable'],
  ['RequestTimeTooSkewed', 'unavailable'], // the SDK learns the server's time from this answer
  ['RequestTimeout', 'timeout'],
  ['TimeoutError', 'timeout'],
  ['NotImplemented', 'unsupported'],
  ['MethodNotAllowed', 'unsupported'],
]);

export function kindOfCode(code: string | undefined): StoreErrorKind | undefined {
  return code === undefined ? undefined : KIND_OF_CODE.get(code);
}

/** The connection failed, or never was: whether the request had an effect is unknown. */
const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPROTO',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/** Whatever a call of the SDK threw, as the port's error. The only place that knows the SDK's and S3's names. */
export function toStoreError(error: unknown, signal?: AbortSignal): StoreError {
  if (error instanceof StoreError) return error;
  if (signal?.aborted === true) {
    return new StoreError('cancelled', 'the call was cancelled', { cause: error });
  }
  const { name, code, message, $metadata, $response } = (error ?? {}) as SdkError;
  const status = $metadata?.httpStatusCode ?? $response?.statusCode;
  const kind = kindOf(name, code, status);
  const retryAfterMs = parseRetryAfter($response?.headers?.['retry-after']);
  const s3Code = code ?? (name === 'Error' ? undefined : name);
  return new StoreError(kind, describe(message, s3Code, status), {
    cause: error,
    ...(status !== undefined && { status }),
    ...(s3Code !== undefined && { code: s3Code }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

interface SdkError {
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly statusCode?: number; readonly headers?: Readonly<Record<string, string>> };
}

function kindOf(
  name: string | undefined,
  code: string | undefined,
  status: number | undefined,
): StoreErrorKind {
  // Before the name: the SDK calls a reset connection a TimeoutError.
  if (code !== undefined && (NETWORK_CODES.has(code) || code.startsWith('HPE_'))) return 'unavailable';
  const byCode = kindOfCode(name) ?? kindOfCode(code);
  if (byCode !== undefined) return byCode;
  if (status !== undefined) return kindOfStatus(status);
  return code === 'ETIMEDOUT' || code === 'ESOCKETTIMEDOUT' ? 'timeout' : 'invalid';
}

function describe(message: string | undefined, code: string | undefined, status: number | undefined): string {
  // The SDK appends a hint for developers in further lines.
  const text = message?.split('\n', 1)[0] ?? '';
  const facts = [
    ...(code === undefined ? [] : [`code=${code}`]),
    ...(status === undefined ? [] : [`status=${status}`]),
  ];
  return [text === '' ? 'the store refused the request' : text, ...facts].join(' ');
}
