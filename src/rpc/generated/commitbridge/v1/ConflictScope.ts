// Original file: proto/commitbridge/v1/job_service.proto

export const ConflictScope = {
  CONFLICT_SCOPE_UNSPECIFIED: 'CONFLICT_SCOPE_UNSPECIFIED',
  CONFLICT_SCOPE_DESTINATION: 'CONFLICT_SCOPE_DESTINATION',
  CONFLICT_SCOPE_PARTITIONS: 'CONFLICT_SCOPE_PARTITIONS',
  CONFLICT_SCOPE_PATHS: 'CONFLICT_SCOPE_PATHS',
} as const;

export type ConflictScope =
  | 'CONFLICT_SCOPE_UNSPECIFIED'
  | 0
  | 'CONFLICT_SCOPE_DESTINATION'
  | 1
  | 'CONFLICT_SCOPE_PARTITIONS'
  | 2
  | 'CONFLICT_SCOPE_PATHS'
  | 3

export type ConflictScope__Output = typeof ConflictScope[keyof typeof ConflictScope]
