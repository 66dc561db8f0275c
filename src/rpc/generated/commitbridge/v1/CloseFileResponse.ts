// Original file: proto/commitbridge/v1/upload_service.proto


export interface CloseFileResponse {
}

export interface CloseFileResponse__Output {
}
