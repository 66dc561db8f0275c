// Original file: proto/commitbridge/v1/job_service.proto

import type { ConflictMode as _commitbridge_v1_ConflictMode, ConflictMode__Output as _commitbridge_v1_ConflictMode__Output } from '../../commitbridge/v1/ConflictMode.js';
import type { ConflictScope as _commitbridge_v1_ConflictScope, ConflictScope__Output as _commitbridge_v1_ConflictScope__Output } from '../../commitbridge/v1/ConflictScope.js';
import type { TaskRecords as _commitbridge_v1_TaskRecords, TaskRecords__Output as _commitbridge_v1_TaskRecords__Output } from '../../commitbridge/v1/TaskRecords.js';

export interface JobOptions {
  'conflictMode'?: (_commitbridge_v1_ConflictMode);
  'conflictScope'?: (_commitbridge_v1_ConflictScope);
  'skipSuccessMarker'?: (boolean);
  'conflictPaths'?: (string)[];
  'allowOtherLocations'?: (boolean);
  'taskRecords'?: (_commitbridge_v1_TaskRecords);
}

export interface JobOptions__Output {
  'conflictMode': (_commitbridge_v1_ConflictMode__Output);
  'conflictScope': (_commitbridge_v1_ConflictScope__Output);
  'skipSuccessMarker': (boolean);
  'conflictPaths': (string)[];
  'allowOtherLocations': (boolean);
  'taskRecords': (_commitbridge_v1_TaskRecords__Output);
}
