// Original file: proto/commitbridge/v1/common.proto

import type { Long } from '@grpc/proto-loader';

export interface UploadedPart {
  'partNumber'?: (number);
  'etag'?: (string);
  'sizeBytes'?: (number | string | Long);
}

export interface UploadedPart__Output {
  'partNumber': (number);
  'etag': (string);
  'sizeBytes': (string);
}
