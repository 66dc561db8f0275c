// Original file: proto/commitbridge/v1/job_service.proto

import type { Long } from '@grpc/proto-loader';

export interface CommitTaskResponse {
  'files'?: (number | string | Long);
  'bytes'?: (number | string | Long);
  'pendingset'?: (Buffer | Uint8Array | string);
}

export interface CommitTaskResponse__Output {
  'files': (string);
  'bytes': (string);
  'pendingset': (Buffer);
}
