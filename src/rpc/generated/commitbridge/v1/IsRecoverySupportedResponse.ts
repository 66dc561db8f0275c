// Original file: proto/commitbridge/v1/job_service.proto


export interface IsRecoverySupportedResponse {
  'supported'?: (boolean);
}

export interface IsRecoverySupportedResponse__Output {
  'supported': (boolean);
}
