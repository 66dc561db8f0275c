// Original file: proto/commitbridge/v1/job_service.proto

import type { JobRef as _commitbridge_v1_JobRef, JobRef__Output as _commitbridge_v1_JobRef__Output } from '../../commitbridge/v1/JobRef.js';
import type { Long } from '@grpc/proto-loader';

export interface CommitJobHeader {
  'job'?: (_commitbridge_v1_JobRef | null);
  'pendingsetCount'?: (number | string | Long);
}

export interface CommitJobHeader__Output {
  'job': (_commitbridge_v1_JobRef__Output | null);
  'pendingsetCount': (string);
}
