// Original file: proto/commitbridge/v1/job_service.proto

import type { JobRef as _commitbridge_v1_JobRef, JobRef__Output as _commitbridge_v1_JobRef__Output } from '../../commitbridge/v1/JobRef.js';
import type { AbortScope as _commitbridge_v1_AbortScope, AbortScope__Output as _commitbridge_v1_AbortScope__Output } from '../../commitbridge/v1/AbortScope.js';

export interface AbortJobRequest {
  'job'?: (_commitbridge_v1_JobRef | null);
  'scope'?: (_commitbridge_v1_AbortScope);
  'reason'?: (string);
}

export interface AbortJobRequest__Output {
  'job': (_commitbridge_v1_JobRef__Output | null);
  'scope': (_commitbridge_v1_AbortScope__Output);
  'reason': (string);
}
