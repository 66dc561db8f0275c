// Original file: proto/commitbridge/v1/job_service.proto

import type { Long } from '@grpc/proto-loader';

export interface SetupTaskResponse {
  'token'?: (string);
  'maxInlineBytes'?: (number | string | Long);
  'maxInlineBytesPerAttempt'?: (number | string | Long);
}

export interface SetupTaskResponse__Output {
  'token': (string);
  'maxInlineBytes': (string);
  'maxInlineBytesPerAttempt': (string);
}
