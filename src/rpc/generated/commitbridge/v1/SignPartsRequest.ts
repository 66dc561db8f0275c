// Original file: proto/commitbridge/v1/upload_service.proto

import type { JobRef as _commitbridge_v1_JobRef, JobRef__Output as _commitbridge_v1_JobRef__Output } from '../../commitbridge/v1/JobRef.js';
import type { TaskAttemptRef as _commitbridge_v1_TaskAttemptRef, TaskAttemptRef__Output as _commitbridge_v1_TaskAttemptRef__Output } from '../../commitbridge/v1/TaskAttemptRef.js';
import type { PendingFile as _commitbridge_v1_PendingFile, PendingFile__Output as _commitbridge_v1_PendingFile__Output } from '../../commitbridge/v1/PendingFile.js';

export interface SignPartsRequest {
  'job'?: (_commitbridge_v1_JobRef | null);
  'attempt'?: (_commitbridge_v1_TaskAttemptRef | null);
  'file'?: (_commitbridge_v1_PendingFile | null);
  'firstPartNumber'?: (number);
  'count'?: (number);
}

export interface SignPartsRequest__Output {
  'job': (_commitbridge_v1_JobRef__Output | null);
  'attempt': (_commitbridge_v1_TaskAttemptRef__Output | null);
  'file': (_commitbridge_v1_PendingFile__Output | null);
  'firstPartNumber': (number);
  'count': (number);
}
