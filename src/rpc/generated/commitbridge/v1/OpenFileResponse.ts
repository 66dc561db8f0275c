// Original file: proto/commitbridge/v1/upload_service.proto

import type { PendingFile as _commitbridge_v1_PendingFile, PendingFile__Output as _commitbridge_v1_PendingFile__Output } from '../../commitbridge/v1/PendingFile.js';
import type { SignedPart as _commitbridge_v1_SignedPart, SignedPart__Output as _commitbridge_v1_SignedPart__Output } from '../../commitbridge/v1/SignedPart.js';

export interface OpenFileResponse {
  'file'?: (_commitbridge_v1_PendingFile | null);
  'signedParts'?: (_commitbridge_v1_SignedPart)[];
}

export interface OpenFileResponse__Output {
  'file': (_commitbridge_v1_PendingFile__Output | null);
  'signedParts': (_commitbridge_v1_SignedPart__Output)[];
}
