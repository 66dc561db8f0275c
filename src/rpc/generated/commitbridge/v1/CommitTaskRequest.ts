// Original file: proto/commitbridge/v1/job_service.proto

import type { CommitTaskHeader as _commitbridge_v1_CommitTaskHeader, CommitTaskHeader__Output as _commitbridge_v1_CommitTaskHeader__Output } from '../../commitbridge/v1/CommitTaskHeader.js';
import type { ClosedFiles as _commitbridge_v1_ClosedFiles, ClosedFiles__Output as _commitbridge_v1_ClosedFiles__Output } from '../../commitbridge/v1/ClosedFiles.js';

export interface CommitTaskRequest {
  'header'?: (_commitbridge_v1_CommitTaskHeader | null);
  'files'?: (_commitbridge_v1_ClosedFiles | null);
  'message'?: "header"|"files";
}

export interface CommitTaskRequest__Output {
  'header'?: (_commitbridge_v1_CommitTaskHeader__Output | null);
  'files'?: (_commitbridge_v1_ClosedFiles__Output | null);
  'message'?: "header"|"files";
}
