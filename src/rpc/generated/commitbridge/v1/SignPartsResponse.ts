// Original file: proto/commitbridge/v1/upload_service.proto

import type { SignedPart as _commitbridge_v1_SignedPart, SignedPart__Output as _commitbridge_v1_SignedPart__Output } from '../../commitbridge/v1/SignedPart.js';

export interface SignPartsResponse {
  'signedParts'?: (_commitbridge_v1_SignedPart)[];
}

export interface SignPartsResponse__Output {
  'signedParts': (_commitbridge_v1_SignedPart__Output)[];
}
