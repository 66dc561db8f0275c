// Original file: proto/commitbridge/v1/common.proto

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../google/protobuf/Timestamp.js';
import type { Long } from '@grpc/proto-loader';

export interface SignedPart {
  'partNumber'?: (number);
  'url'?: (string);
  'headers'?: ({[key: string]: string});
  'sizeBytes'?: (number | string | Long);
  'expireTime'?: (_google_protobuf_Timestamp | null);
}

export interface SignedPart__Output {
  'partNumber': (number);
  'url': (string);
  'headers': ({[key: string]: string});
  'sizeBytes': (string);
  'expireTime': (_google_protobuf_Timestamp__Output | null);
}
