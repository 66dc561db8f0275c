// Original file: proto/commitbridge/v1/job_service.proto

import type { JobRef as _commitbridge_v1_JobRef, JobRef__Output as _commitbridge_v1_JobRef__Output } from '../../commitbridge/v1/JobRef.js';
import type { ExactWinners as _commitbridge_v1_ExactWinners, ExactWinners__Output as _commitbridge_v1_ExactWinners__Output } from '../../commitbridge/v1/ExactWinners.js';

export interface CommitJobRequest {
  'job'?: (_commitbridge_v1_JobRef | null);
  'exactWinners'?: (_commitbridge_v1_ExactWinners | null);
}

export interface CommitJobRequest__Output {
  'job': (_commitbridge_v1_JobRef__Output | null);
  'exactWinners': (_commitbridge_v1_ExactWinners__Output | null);
}
