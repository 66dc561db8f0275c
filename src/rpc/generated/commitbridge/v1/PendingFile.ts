// Original file: proto/commitbridge/v1/common.proto


export interface PendingFile {
  'uri'?: (string);
  'uploadId'?: (string);
  'commitbridgeId'?: (string);
  'handle'?: (Buffer | Uint8Array | string);
}

export interface PendingFile__Output {
  'uri': (string);
  'uploadId': (string);
  'commitbridgeId': (string);
  'handle': (Buffer);
}
