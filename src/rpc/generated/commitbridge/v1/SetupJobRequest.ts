// Original file: proto/commitbridge/v1/job_service.proto

import type { JobRef as _commitbridge_v1_JobRef, JobRef__Output as _commitbridge_v1_JobRef__Output } from '../../commitbridge/v1/JobRef.js';
import type { JobOptions as _commitbridge_v1_JobOptions, JobOptions__Output as _commitbridge_v1_JobOptions__Output } from '../../commitbridge/v1/JobOptions.js';

export interface SetupJobRequest {
  'job'?: (_commitbridge_v1_JobRef | null);
  'setupId'?: (string);
  'options'?: (_commitbridge_v1_JobOptions | null);
  'description'?: (string);
  'protocolVersion'?: (number);
}

export interface SetupJobRequest__Output {
  'job': (_commitbridge_v1_JobRef__Output | null);
  'setupId': (string);
  'options': (_commitbridge_v1_JobOptions__Output | null);
  'description': (string);
  'protocolVersion': (number);
}
