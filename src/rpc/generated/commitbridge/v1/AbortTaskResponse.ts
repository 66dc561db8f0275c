// Original file: proto/commitbridge/v1/job_service.proto


export interface AbortTaskResponse {
}

export interface AbortTaskResponse__Output {
}
