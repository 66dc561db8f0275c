// Original file: proto/commitbridge/v1/common.proto

import type { PendingFile as _commitbridge_v1_PendingFile, PendingFile__Output as _commitbridge_v1_PendingFile__Output } from '../../commitbridge/v1/PendingFile.js';
import type { UploadedPart as _commitbridge_v1_UploadedPart, UploadedPart__Output as _commitbridge_v1_UploadedPart__Output } from '../../commitbridge/v1/UploadedPart.js';
import type { InlineFile as _commitbridge_v1_InlineFile, InlineFile__Output as _commitbridge_v1_InlineFile__Output } from '../../commitbridge/v1/InlineFile.js';

export interface ClosedFile {
  'pending'?: (_commitbridge_v1_PendingFile | null);
  'parts'?: (_commitbridge_v1_UploadedPart)[];
  'inline'?: (_commitbridge_v1_InlineFile | null);
}

export interface ClosedFile__Output {
  'pending': (_commitbridge_v1_PendingFile__Output | null);
  'parts': (_commitbridge_v1_UploadedPart__Output)[];
  'inline': (_commitbridge_v1_InlineFile__Output | null);
}
