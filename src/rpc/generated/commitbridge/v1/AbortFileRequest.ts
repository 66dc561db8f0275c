// Original file: proto/commitbridge/v1/upload_service.proto

import type { JobRef as _commitbridge_v1_JobRef, JobRef__Output as _commitbridge_v1_JobRef__Output } from '../../commitbridge/v1/JobRef.js';
import type { TaskAttemptRef as _commitbridge_v1_TaskAttemptRef, TaskAttemptRef__Output as _commitbridge_v1_TaskAttemptRef__Output } from '../../commitbridge/v1/TaskAttemptRef.js';
import type { PendingFile as _commitbridge_v1_PendingFile, PendingFile__Output as _commitbridge_v1_PendingFile__Output } from '../../commitbridge/v1/PendingFile.js';

export interface AbortFileRequest {
  'job'?: (_commitbridge_v1_JobRef | null);
  'attempt'?: (_commitbridge_v1_TaskAttemptRef | null);
  'file'?: (_commitbridge_v1_PendingFile | null);
}

export interface AbortFileRequest__Output {
  'job': (_commitbridge_v1_JobRef__Output | null);
  'attempt': (_commitbridge_v1_TaskAttemptRef__Output | null);
  'file': (_commitbridge_v1_PendingFile__Output | null);
}
