// Original file: proto/commitbridge/v1/job_service.proto

import type { TaskAttemptRef as _commitbridge_v1_TaskAttemptRef, TaskAttemptRef__Output as _commitbridge_v1_TaskAttemptRef__Output } from '../../commitbridge/v1/TaskAttemptRef.js';

export interface ExactWinners {
  'attempts'?: (_commitbridge_v1_TaskAttemptRef)[];
}

export interface ExactWinners__Output {
  'attempts': (_commitbridge_v1_TaskAttemptRef__Output)[];
}
