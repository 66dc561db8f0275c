// Original file: proto/commitbridge/v1/upload_service.proto


export interface AbortFileResponse {
}

export interface AbortFileResponse__Output {
}
