// Original file: proto/commitbridge/v1/common.proto


export interface JobRef {
  'tokens'?: (string)[];
  'jobAttempt'?: (number);
  'destination'?: (string);
}

export interface JobRef__Output {
  'tokens': (string)[];
  'jobAttempt': (number);
  'destination': (string);
}
