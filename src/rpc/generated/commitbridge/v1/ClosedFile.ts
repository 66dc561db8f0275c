// Original file: proto/commitbridge/v1/common.proto

import type { PendingFile as _commitbridge_v1_PendingFile, PendingFile__Output as _commitbridge_v1_PendingFile__Output } from '../../commitbridge/v1/PendingFile.js';
import type { UploadedPart as _commitbridge_v1_UploadedPart, UploadedPart__Output as _commitbridge_v1_UploadedPart__Output } from '../../commitbridge/v1/UploadedPart.js';

export interface ClosedFile {
  'pending'?: (_commitbridge_v1_PendingFile | null);
  'parts'?: (_commitbridge_v1_UploadedPart)[];
}

export interface ClosedFile__Output {
  'pending': (_commitbridge_v1_PendingFile__Output | null);
  'parts': (_commitbridge_v1_UploadedPart__Output)[];
}
