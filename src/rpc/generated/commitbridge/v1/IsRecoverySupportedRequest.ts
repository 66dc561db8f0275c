// Original file: proto/commitbridge/v1/job_service.proto

import type { JobRef as _commitbridge_v1_JobRef, JobRef__Output as _commitbridge_v1_JobRef__Output } from '../../commitbridge/v1/JobRef.js';

export interface IsRecoverySupportedRequest {
  'job'?: (_commitbridge_v1_JobRef | null);
}

export interface IsRecoverySupportedRequest__Output {
  'job': (_commitbridge_v1_JobRef__Output | null);
}
