/** The generated types of all messages, in one place for tests. */
export type {
  AbortFileRequest,
  AbortFileRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/AbortFileRequest.js';
export type {
  AbortFileResponse,
  AbortFileResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/AbortFileResponse.js';
export type {
  AbortJobRequest,
  AbortJobRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/AbortJobRequest.js';
export type {
  AbortJobResponse,
  AbortJobResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/AbortJobResponse.js';
export type {
  AbortTaskRequest,
  AbortTaskRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/AbortTaskRequest.js';
export type {
  AbortTaskResponse,
  AbortTaskResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/AbortTaskResponse.js';
export type {
  CloseFileRequest,
  CloseFileRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/CloseFileRequest.js';
export type {
  CloseFileResponse,
  CloseFileResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/CloseFileResponse.js';
export type {
  ClosedFile,
  ClosedFile__Output,
} from '../../../src/rpc/generated/commitbridge/v1/ClosedFile.js';
export type {
  ClosedFiles,
  ClosedFiles__Output,
} from '../../../src/rpc/generated/commitbridge/v1/ClosedFiles.js';
export type {
  CommitJobRequest,
  CommitJobRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/CommitJobRequest.js';
export type {
  CommitJobResponse,
  CommitJobResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/CommitJobResponse.js';
export type {
  CommitTaskHeader,
  CommitTaskHeader__Output,
} from '../../../src/rpc/generated/commitbridge/v1/CommitTaskHeader.js';
export type {
  CommitJobWithPendingsetsRequest,
  CommitJobWithPendingsetsRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/CommitJobWithPendingsetsRequest.js';
export type {
  CommitJobWithPendingsetsResponse,
  CommitJobWithPendingsetsResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/CommitJobWithPendingsetsResponse.js';
export type {
  CommitTaskRequest,
  CommitTaskRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/CommitTaskRequest.js';
export type {
  CommitTaskResponse,
  CommitTaskResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/CommitTaskResponse.js';
export type {
  ExactWinners,
  ExactWinners__Output,
} from '../../../src/rpc/generated/commitbridge/v1/ExactWinners.js';
export type {
  GetServerInfoRequest,
  GetServerInfoRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/GetServerInfoRequest.js';
export type {
  GetServerInfoResponse,
  GetServerInfoResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/GetServerInfoResponse.js';
export type {
  IsCommitJobRepeatableRequest,
  IsCommitJobRepeatableRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/IsCommitJobRepeatableRequest.js';
export type {
  IsCommitJobRepeatableResponse,
  IsCommitJobRepeatableResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/IsCommitJobRepeatableResponse.js';
export type {
  IsRecoverySupportedRequest,
  IsRecoverySupportedRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/IsRecoverySupportedRequest.js';
export type {
  IsRecoverySupportedResponse,
  IsRecoverySupportedResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/IsRecoverySupportedResponse.js';
export type {
  JobOptions,
  JobOptions__Output,
} from '../../../src/rpc/generated/commitbridge/v1/JobOptions.js';
export type { JobRef, JobRef__Output } from '../../../src/rpc/generated/commitbridge/v1/JobRef.js';
export type { Limits, Limits__Output } from '../../../src/rpc/generated/commitbridge/v1/Limits.js';
export type {
  NeedsTaskCommitRequest,
  NeedsTaskCommitRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/NeedsTaskCommitRequest.js';
export type {
  NeedsTaskCommitResponse,
  NeedsTaskCommitResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/NeedsTaskCommitResponse.js';
export type {
  OpenFileRequest,
  OpenFileRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/OpenFileRequest.js';
export type {
  OpenFileResponse,
  OpenFileResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/OpenFileResponse.js';
export type {
  PendingFile,
  PendingFile__Output,
} from '../../../src/rpc/generated/commitbridge/v1/PendingFile.js';
export type {
  RecoverTaskRequest,
  RecoverTaskRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/RecoverTaskRequest.js';
export type {
  RecoverTaskResponse,
  RecoverTaskResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/RecoverTaskResponse.js';
export type {
  SetupJobRequest,
  SetupJobRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/SetupJobRequest.js';
export type {
  SetupJobResponse,
  SetupJobResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/SetupJobResponse.js';
export type {
  SetupTaskRequest,
  SetupTaskRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/SetupTaskRequest.js';
export type {
  SetupTaskResponse,
  SetupTaskResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/SetupTaskResponse.js';
export type {
  SignPartsRequest,
  SignPartsRequest__Output,
} from '../../../src/rpc/generated/commitbridge/v1/SignPartsRequest.js';
export type {
  SignPartsResponse,
  SignPartsResponse__Output,
} from '../../../src/rpc/generated/commitbridge/v1/SignPartsResponse.js';
export type {
  SignedPart,
  SignedPart__Output,
} from '../../../src/rpc/generated/commitbridge/v1/SignedPart.js';
export type {
  TaskAttemptRef,
  TaskAttemptRef__Output,
} from '../../../src/rpc/generated/commitbridge/v1/TaskAttemptRef.js';
export type {
  UploadedPart,
  UploadedPart__Output,
} from '../../../src/rpc/generated/commitbridge/v1/UploadedPart.js';
