// Original file: proto/commitbridge/v1/job_service.proto


export interface SetupJobResponse {
  'token'?: (string);
}

export interface SetupJobResponse__Output {
  'token': (string);
}
