// Original file: proto/commitbridge/v1/job_service.proto

export const TaskRecords = {
  TASK_RECORDS_UNSPECIFIED: 'TASK_RECORDS_UNSPECIFIED',
  TASK_RECORDS_CLIENT: 'TASK_RECORDS_CLIENT',
  TASK_RECORDS_STORE: 'TASK_RECORDS_STORE',
  TASK_RECORDS_DRIVER: 'TASK_RECORDS_DRIVER',
} as const;

export type TaskRecords =
  | 'TASK_RECORDS_UNSPECIFIED'
  | 0
  | 'TASK_RECORDS_CLIENT'
  | 1
  | 'TASK_RECORDS_STORE'
  | 2
  | 'TASK_RECORDS_DRIVER'
  | 3

export type TaskRecords__Output = typeof TaskRecords[keyof typeof TaskRecords]
