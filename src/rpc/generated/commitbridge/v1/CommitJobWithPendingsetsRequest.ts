// Original file: proto/commitbridge/v1/job_service.proto

import type { CommitJobHeader as _commitbridge_v1_CommitJobHeader, CommitJobHeader__Output as _commitbridge_v1_CommitJobHeader__Output } from '../../commitbridge/v1/CommitJobHeader.js';
import type { Pendingsets as _commitbridge_v1_Pendingsets, Pendingsets__Output as _commitbridge_v1_Pendingsets__Output } from '../../commitbridge/v1/Pendingsets.js';

export interface CommitJobWithPendingsetsRequest {
  'header'?: (_commitbridge_v1_CommitJobHeader | null);
  'batch'?: (_commitbridge_v1_Pendingsets | null);
  'message'?: "header"|"batch";
}

export interface CommitJobWithPendingsetsRequest__Output {
  'header'?: (_commitbridge_v1_CommitJobHeader__Output | null);
  'batch'?: (_commitbridge_v1_Pendingsets__Output | null);
  'message'?: "header"|"batch";
}
