// Original file: proto/commitbridge/v1/job_service.proto


export interface AbortJobResponse {
  'published'?: (boolean);
}

export interface AbortJobResponse__Output {
  'published': (boolean);
}
