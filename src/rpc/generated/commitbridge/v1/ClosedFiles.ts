// Original file: proto/commitbridge/v1/job_service.proto

import type { ClosedFile as _commitbridge_v1_ClosedFile, ClosedFile__Output as _commitbridge_v1_ClosedFile__Output } from '../../commitbridge/v1/ClosedFile.js';

export interface ClosedFiles {
  'files'?: (_commitbridge_v1_ClosedFile)[];
}

export interface ClosedFiles__Output {
  'files': (_commitbridge_v1_ClosedFile__Output)[];
}
