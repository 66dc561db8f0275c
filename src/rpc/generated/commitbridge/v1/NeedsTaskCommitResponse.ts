// Original file: proto/commitbridge/v1/job_service.proto


export interface NeedsTaskCommitResponse {
  'needsTaskCommit'?: (boolean);
}

export interface NeedsTaskCommitResponse__Output {
  'needsTaskCommit': (boolean);
}
