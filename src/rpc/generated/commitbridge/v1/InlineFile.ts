// Original file: proto/commitbridge/v1/common.proto


export interface InlineFile {
  'uri'?: (string);
  'content'?: (Buffer | Uint8Array | string);
  'contentType'?: (string);
}

export interface InlineFile__Output {
  'uri': (string);
  'content': (Buffer);
  'contentType': (string);
}
