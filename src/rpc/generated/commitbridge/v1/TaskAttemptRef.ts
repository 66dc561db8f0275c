// Original file: proto/commitbridge/v1/common.proto


export interface TaskAttemptRef {
  'task'?: (string);
  'attemptNumber'?: (number);
  'attemptId'?: (string);
}

export interface TaskAttemptRef__Output {
  'task': (string);
  'attemptNumber': (number);
  'attemptId': (string);
}
