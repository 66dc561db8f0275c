// Original file: proto/commitbridge/v1/job_service.proto

import type { Long } from '@grpc/proto-loader';

export interface CommitJobWithPendingsetsResponse {
  'files'?: (number | string | Long);
  'bytes'?: (number | string | Long);
  'tasks'?: (number | string | Long);
}

export interface CommitJobWithPendingsetsResponse__Output {
  'files': (string);
  'bytes': (string);
  'tasks': (string);
}
