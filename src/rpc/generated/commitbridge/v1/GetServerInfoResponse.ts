// Original file: proto/commitbridge/v1/admin_service.proto

import type { DataPlane as _commitbridge_v1_DataPlane, DataPlane__Output as _commitbridge_v1_DataPlane__Output } from '../../commitbridge/v1/DataPlane.js';
import type { Limits as _commitbridge_v1_Limits, Limits__Output as _commitbridge_v1_Limits__Output } from '../../commitbridge/v1/Limits.js';

export interface GetServerInfoResponse {
  'version'?: (string);
  'minProtocolVersion'?: (number);
  'maxProtocolVersion'?: (number);
  'dataPlanes'?: (_commitbridge_v1_DataPlane)[];
  'limits'?: (_commitbridge_v1_Limits | null);
}

export interface GetServerInfoResponse__Output {
  'version': (string);
  'minProtocolVersion': (number);
  'maxProtocolVersion': (number);
  'dataPlanes': (_commitbridge_v1_DataPlane__Output)[];
  'limits': (_commitbridge_v1_Limits__Output | null);
}
