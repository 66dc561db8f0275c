// Original file: proto/commitbridge/v1/job_service.proto


export interface RecoverTaskResponse {
}

export interface RecoverTaskResponse__Output {
}
