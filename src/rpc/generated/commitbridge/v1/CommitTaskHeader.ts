// Original file: proto/commitbridge/v1/job_service.proto

import type { JobRef as _commitbridge_v1_JobRef, JobRef__Output as _commitbridge_v1_JobRef__Output } from '../../commitbridge/v1/JobRef.js';
import type { TaskAttemptRef as _commitbridge_v1_TaskAttemptRef, TaskAttemptRef__Output as _commitbridge_v1_TaskAttemptRef__Output } from '../../commitbridge/v1/TaskAttemptRef.js';
import type { Long } from '@grpc/proto-loader';

export interface CommitTaskHeader {
  'job'?: (_commitbridge_v1_JobRef | null);
  'attempt'?: (_commitbridge_v1_TaskAttemptRef | null);
  'fileCount'?: (number | string | Long);
}

export interface CommitTaskHeader__Output {
  'job': (_commitbridge_v1_JobRef__Output | null);
  'attempt': (_commitbridge_v1_TaskAttemptRef__Output | null);
  'fileCount': (string);
}
