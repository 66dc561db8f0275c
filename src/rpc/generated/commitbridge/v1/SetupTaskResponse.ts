// Original file: proto/commitbridge/v1/job_service.proto


export interface SetupTaskResponse {
  'token'?: (string);
}

export interface SetupTaskResponse__Output {
  'token': (string);
}
