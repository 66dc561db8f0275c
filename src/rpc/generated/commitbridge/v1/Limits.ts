// Original file: proto/commitbridge/v1/admin_service.proto

import type { Long } from '@grpc/proto-loader';

export interface Limits {
  'maxMessageBytes'?: (number | string | Long);
  'maxBatchBytes'?: (number | string | Long);
  'maxKeyBytes'?: (number | string | Long);
  'maxParts'?: (number);
  'minPartBytes'?: (number | string | Long);
  'maxObjectBytes'?: (number | string | Long);
  'maxSignedParts'?: (number);
  'maxInlineBytes'?: (number | string | Long);
  'maxInlineBytesPerAttempt'?: (number | string | Long);
}

export interface Limits__Output {
  'maxMessageBytes': (string);
  'maxBatchBytes': (string);
  'maxKeyBytes': (string);
  'maxParts': (number);
  'minPartBytes': (string);
  'maxObjectBytes': (string);
  'maxSignedParts': (number);
  'maxInlineBytes': (string);
  'maxInlineBytesPerAttempt': (string);
}
