// Original file: proto/commitbridge/v1/upload_service.proto

import type { JobRef as _commitbridge_v1_JobRef, JobRef__Output as _commitbridge_v1_JobRef__Output } from '../../commitbridge/v1/JobRef.js';
import type { TaskAttemptRef as _commitbridge_v1_TaskAttemptRef, TaskAttemptRef__Output as _commitbridge_v1_TaskAttemptRef__Output } from '../../commitbridge/v1/TaskAttemptRef.js';
import type { ClosedFile as _commitbridge_v1_ClosedFile, ClosedFile__Output as _commitbridge_v1_ClosedFile__Output } from '../../commitbridge/v1/ClosedFile.js';

export interface CloseFileRequest {
  'job'?: (_commitbridge_v1_JobRef | null);
  'attempt'?: (_commitbridge_v1_TaskAttemptRef | null);
  'file'?: (_commitbridge_v1_ClosedFile | null);
}

export interface CloseFileRequest__Output {
  'job': (_commitbridge_v1_JobRef__Output | null);
  'attempt': (_commitbridge_v1_TaskAttemptRef__Output | null);
  'file': (_commitbridge_v1_ClosedFile__Output | null);
}
