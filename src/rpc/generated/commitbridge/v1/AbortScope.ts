// Original file: proto/commitbridge/v1/job_service.proto

export const AbortScope = {
  ABORT_SCOPE_UNSPECIFIED: 'ABORT_SCOPE_UNSPECIFIED',
  ABORT_SCOPE_THIS_AND_EARLIER_ATTEMPTS: 'ABORT_SCOPE_THIS_AND_EARLIER_ATTEMPTS',
  ABORT_SCOPE_EARLIER_ATTEMPTS: 'ABORT_SCOPE_EARLIER_ATTEMPTS',
} as const;

export type AbortScope =
  | 'ABORT_SCOPE_UNSPECIFIED'
  | 0
  | 'ABORT_SCOPE_THIS_AND_EARLIER_ATTEMPTS'
  | 1
  | 'ABORT_SCOPE_EARLIER_ATTEMPTS'
  | 2

export type AbortScope__Output = typeof AbortScope[keyof typeof AbortScope]
