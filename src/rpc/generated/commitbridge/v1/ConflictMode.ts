// Original file: proto/commitbridge/v1/job_service.proto

export const ConflictMode = {
  CONFLICT_MODE_UNSPECIFIED: 'CONFLICT_MODE_UNSPECIFIED',
  CONFLICT_MODE_APPEND: 'CONFLICT_MODE_APPEND',
  CONFLICT_MODE_FAIL: 'CONFLICT_MODE_FAIL',
  CONFLICT_MODE_REPLACE: 'CONFLICT_MODE_REPLACE',
} as const;

export type ConflictMode =
  | 'CONFLICT_MODE_UNSPECIFIED'
  | 0
  | 'CONFLICT_MODE_APPEND'
  | 1
  | 'CONFLICT_MODE_FAIL'
  | 2
  | 'CONFLICT_MODE_REPLACE'
  | 3

export type ConflictMode__Output = typeof ConflictMode[keyof typeof ConflictMode]
