// Original file: proto/commitbridge/v1/job_service.proto


export interface Pendingsets {
  'pendingsets'?: (Buffer | Uint8Array | string)[];
}

export interface Pendingsets__Output {
  'pendingsets': (Buffer)[];
}
