// Original file: proto/commitbridge/v1/job_service.proto


export interface IsCommitJobRepeatableResponse {
  'repeatable'?: (boolean);
}

export interface IsCommitJobRepeatableResponse__Output {
  'repeatable': (boolean);
}
