/** The codes of gRPC that the protocol uses; `src/rpc/status.ts` turns them into numbers. */
export type ErrorCode =
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PERMISSION_DENIED'
  | 'UNAUTHENTICATED'
  | 'FAILED_PRECONDITION'
  | 'ABORTED'
  | 'UNAVAILABLE'
  | 'RESOURCE_EXHAUSTED'
  | 'DATA_LOSS'
  | 'INTERNAL';

/** Each reason of `ErrorReason` in errors.proto has one code. */
const codeOfReason = {
  INVALID_FIELD: 'INVALID_ARGUMENT',
  PATH_OUTSIDE_DESTINATION: 'INVALID_ARGUMENT',
  KEY_TOO_LONG: 'INVALID_ARGUMENT',
  INVALID_PARTS: 'INVALID_ARGUMENT',
  FORGED_HANDLE: 'PERMISSION_DENIED',
  OUTSIDE_ROOTS: 'PERMISSION_DENIED',
  PRINCIPAL_NOT_ALLOWED: 'PERMISSION_DENIED',
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  JOB_NOT_FOUND: 'NOT_FOUND',
  ATTEMPT_NOT_FOUND: 'NOT_FOUND',
  JOB_EXISTS: 'ALREADY_EXISTS',
  ATTEMPT_EXISTS: 'ALREADY_EXISTS',
  DESTINATION_EXISTS: 'ALREADY_EXISTS',
  DUPLICATE_KEY: 'ALREADY_EXISTS',
  ATTEMPT_ABORTED: 'FAILED_PRECONDITION',
  JOB_ABORTED: 'FAILED_PRECONDITION',
  JOB_COMMITTED: 'FAILED_PRECONDITION',
  JOB_SUPERSEDED: 'FAILED_PRECONDITION',
  OVERWROTE_OBJECTS: 'FAILED_PRECONDITION',
  UNSUPPORTED: 'FAILED_PRECONDITION',
  WINNER_NOT_COMMITTED: 'FAILED_PRECONDITION',
  CONCURRENT_OPERATION: 'ABORTED',
  STORE_UNAVAILABLE: 'UNAVAILABLE',
  DRAINING: 'UNAVAILABLE',
  LIMIT_EXCEEDED: 'RESOURCE_EXHAUSTED',
  RECORD_UNREADABLE: 'DATA_LOSS',
  FOREIGN_OBJECT: 'DATA_LOSS',
  STORE_ACCESS_DENIED: 'PERMISSION_DENIED',
  BUCKET_NOT_FOUND: 'NOT_FOUND',
  INTERNAL: 'INTERNAL',
} as const satisfies Record<string, ErrorCode>;

export type ErrorReasonName = keyof typeof codeOfReason;

/** What a use case throws: a reason for programs, a sentence for people. */
export class CommitterError extends Error {
  override readonly name = 'CommitterError';
  readonly code: ErrorCode;
  /** Set where the same call may be repeated, after that time. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly reason: ErrorReasonName,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = codeOfReason[reason];
    this.retryAfterMs = options.retryAfterMs ?? (this.code === 'UNAVAILABLE' ? 1_000 : undefined);
  }
}

export function isCommitterError(
  error: unknown,
  ...reasons: readonly ErrorReasonName[]
): error is CommitterError {
  return error instanceof CommitterError && (reasons.length === 0 || reasons.includes(error.reason));
}
