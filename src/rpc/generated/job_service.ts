import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { AbortJobRequest as _commitbridge_v1_AbortJobRequest, AbortJobRequest__Output as _commitbridge_v1_AbortJobRequest__Output } from './commitbridge/v1/AbortJobRequest.js';
import type { AbortJobResponse as _commitbridge_v1_AbortJobResponse, AbortJobResponse__Output as _commitbridge_v1_AbortJobResponse__Output } from './commitbridge/v1/AbortJobResponse.js';
import type { AbortTaskRequest as _commitbridge_v1_AbortTaskRequest, AbortTaskRequest__Output as _commitbridge_v1_AbortTaskRequest__Output } from './commitbridge/v1/AbortTaskRequest.js';
import type { AbortTaskResponse as _commitbridge_v1_AbortTaskResponse, AbortTaskResponse__Output as _commitbridge_v1_AbortTaskResponse__Output } from './commitbridge/v1/AbortTaskResponse.js';
import type { ClosedFile as _commitbridge_v1_ClosedFile, ClosedFile__Output as _commitbridge_v1_ClosedFile__Output } from './commitbridge/v1/ClosedFile.js';
import type { ClosedFiles as _commitbridge_v1_ClosedFiles, ClosedFiles__Output as _commitbridge_v1_ClosedFiles__Output } from './commitbridge/v1/ClosedFiles.js';
import type { CommitJobHeader as _commitbridge_v1_CommitJobHeader, CommitJobHeader__Output as _commitbridge_v1_CommitJobHeader__Output } from './commitbridge/v1/CommitJobHeader.js';
import type { CommitJobRequest as _commitbridge_v1_CommitJobRequest, CommitJobRequest__Output as _commitbridge_v1_CommitJobRequest__Output } from './commitbridge/v1/CommitJobRequest.js';
import type { CommitJobResponse as _commitbridge_v1_CommitJobResponse, CommitJobResponse__Output as _commitbridge_v1_CommitJobResponse__Output } from './commitbridge/v1/CommitJobResponse.js';
import type { CommitJobWithPendingsetsRequest as _commitbridge_v1_CommitJobWithPendingsetsRequest, CommitJobWithPendingsetsRequest__Output as _commitbridge_v1_CommitJobWithPendingsetsRequest__Output } from './commitbridge/v1/CommitJobWithPendingsetsRequest.js';
import type { CommitJobWithPendingsetsResponse as _commitbridge_v1_CommitJobWithPendingsetsResponse, CommitJobWithPendingsetsResponse__Output as _commitbridge_v1_CommitJobWithPendingsetsResponse__Output } from './commitbridge/v1/CommitJobWithPendingsetsResponse.js';
import type { CommitTaskHeader as _commitbridge_v1_CommitTaskHeader, CommitTaskHeader__Output as _commitbridge_v1_CommitTaskHeader__Output } from './commitbridge/v1/CommitTaskHeader.js';
import type { CommitTaskRequest as _commitbridge_v1_CommitTaskRequest, CommitTaskRequest__Output as _commitbridge_v1_CommitTaskRequest__Output } from './commitbridge/v1/CommitTaskRequest.js';
import type { CommitTaskResponse as _commitbridge_v1_CommitTaskResponse, CommitTaskResponse__Output as _commitbridge_v1_CommitTaskResponse__Output } from './commitbridge/v1/CommitTaskResponse.js';
import type { ExactWinners as _commitbridge_v1_ExactWinners, ExactWinners__Output as _commitbridge_v1_ExactWinners__Output } from './commitbridge/v1/ExactWinners.js';
import type { InlineFile as _commitbridge_v1_InlineFile, InlineFile__Output as _commitbridge_v1_InlineFile__Output } from './commitbridge/v1/InlineFile.js';
import type { IsCommitJobRepeatableRequest as _commitbridge_v1_IsCommitJobRepeatableRequest, IsCommitJobRepeatableRequest__Output as _commitbridge_v1_IsCommitJobRepeatableRequest__Output } from './commitbridge/v1/IsCommitJobRepeatableRequest.js';
import type { IsCommitJobRepeatableResponse as _commitbridge_v1_IsCommitJobRepeatableResponse, IsCommitJobRepeatableResponse__Output as _commitbridge_v1_IsCommitJobRepeatableResponse__Output } from './commitbridge/v1/IsCommitJobRepeatableResponse.js';
import type { IsRecoverySupportedRequest as _commitbridge_v1_IsRecoverySupportedRequest, IsRecoverySupportedRequest__Output as _commitbridge_v1_IsRecoverySupportedRequest__Output } from './commitbridge/v1/IsRecoverySupportedRequest.js';
import type { IsRecoverySupportedResponse as _commitbridge_v1_IsRecoverySupportedResponse, IsRecoverySupportedResponse__Output as _commitbridge_v1_IsRecoverySupportedResponse__Output } from './commitbridge/v1/IsRecoverySupportedResponse.js';
import type { JobOptions as _commitbridge_v1_JobOptions, JobOptions__Output as _commitbridge_v1_JobOptions__Output } from './commitbridge/v1/JobOptions.js';
import type { JobRef as _commitbridge_v1_JobRef, JobRef__Output as _commitbridge_v1_JobRef__Output } from './commitbridge/v1/JobRef.js';
import type { JobServiceClient as _commitbridge_v1_JobServiceClient, JobServiceDefinition as _commitbridge_v1_JobServiceDefinition } from './commitbridge/v1/JobService.js';
import type { NeedsTaskCommitRequest as _commitbridge_v1_NeedsTaskCommitRequest, NeedsTaskCommitRequest__Output as _commitbridge_v1_NeedsTaskCommitRequest__Output } from './commitbridge/v1/NeedsTaskCommitRequest.js';
import type { NeedsTaskCommitResponse as _commitbridge_v1_NeedsTaskCommitResponse, NeedsTaskCommitResponse__Output as _commitbridge_v1_NeedsTaskCommitResponse__Output } from './commitbridge/v1/NeedsTaskCommitResponse.js';
import type { PendingFile as _commitbridge_v1_PendingFile, PendingFile__Output as _commitbridge_v1_PendingFile__Output } from './commitbridge/v1/PendingFile.js';
import type { Pendingsets as _commitbridge_v1_Pendingsets, Pendingsets__Output as _commitbridge_v1_Pendingsets__Output } from './commitbridge/v1/Pendingsets.js';
import type { RecoverTaskRequest as _commitbridge_v1_RecoverTaskRequest, RecoverTaskRequest__Output as _commitbridge_v1_RecoverTaskRequest__Output } from './commitbridge/v1/RecoverTaskRequest.js';
import type { RecoverTaskResponse as _commitbridge_v1_RecoverTaskResponse, RecoverTaskResponse__Output as _commitbridge_v1_RecoverTaskResponse__Output } from './commitbridge/v1/RecoverTaskResponse.js';
import type { SetupJobRequest as _commitbridge_v1_SetupJobRequest, SetupJobRequest__Output as _commitbridge_v1_SetupJobRequest__Output } from './commitbridge/v1/SetupJobRequest.js';
import type { SetupJobResponse as _commitbridge_v1_SetupJobResponse, SetupJobResponse__Output as _commitbridge_v1_SetupJobResponse__Output } from './commitbridge/v1/SetupJobResponse.js';
import type { SetupTaskRequest as _commitbridge_v1_SetupTaskRequest, SetupTaskRequest__Output as _commitbridge_v1_SetupTaskRequest__Output } from './commitbridge/v1/SetupTaskRequest.js';
import type { SetupTaskResponse as _commitbridge_v1_SetupTaskResponse, SetupTaskResponse__Output as _commitbridge_v1_SetupTaskResponse__Output } from './commitbridge/v1/SetupTaskResponse.js';
import type { SignedPart as _commitbridge_v1_SignedPart, SignedPart__Output as _commitbridge_v1_SignedPart__Output } from './commitbridge/v1/SignedPart.js';
import type { TaskAttemptRef as _commitbridge_v1_TaskAttemptRef, TaskAttemptRef__Output as _commitbridge_v1_TaskAttemptRef__Output } from './commitbridge/v1/TaskAttemptRef.js';
import type { UploadedPart as _commitbridge_v1_UploadedPart, UploadedPart__Output as _commitbridge_v1_UploadedPart__Output } from './commitbridge/v1/UploadedPart.js';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from './google/protobuf/Timestamp.js';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  commitbridge: {
    v1: {
      AbortJobRequest: MessageTypeDefinition<_commitbridge_v1_AbortJobRequest, _commitbridge_v1_AbortJobRequest__Output>
      AbortJobResponse: MessageTypeDefinition<_commitbridge_v1_AbortJobResponse, _commitbridge_v1_AbortJobResponse__Output>
      AbortScope: EnumTypeDefinition
      AbortTaskRequest: MessageTypeDefinition<_commitbridge_v1_AbortTaskRequest, _commitbridge_v1_AbortTaskRequest__Output>
      AbortTaskResponse: MessageTypeDefinition<_commitbridge_v1_AbortTaskResponse, _commitbridge_v1_AbortTaskResponse__Output>
      ClosedFile: MessageTypeDefinition<_commitbridge_v1_ClosedFile, _commitbridge_v1_ClosedFile__Output>
      ClosedFiles: MessageTypeDefinition<_commitbridge_v1_ClosedFiles, _commitbridge_v1_ClosedFiles__Output>
      CommitJobHeader: MessageTypeDefinition<_commitbridge_v1_CommitJobHeader, _commitbridge_v1_CommitJobHeader__Output>
      CommitJobRequest: MessageTypeDefinition<_commitbridge_v1_CommitJobRequest, _commitbridge_v1_CommitJobRequest__Output>
      CommitJobResponse: MessageTypeDefinition<_commitbridge_v1_CommitJobResponse, _commitbridge_v1_CommitJobResponse__Output>
      CommitJobWithPendingsetsRequest: MessageTypeDefinition<_commitbridge_v1_CommitJobWithPendingsetsRequest, _commitbridge_v1_CommitJobWithPendingsetsRequest__Output>
      CommitJobWithPendingsetsResponse: MessageTypeDefinition<_commitbridge_v1_CommitJobWithPendingsetsResponse, _commitbridge_v1_CommitJobWithPendingsetsResponse__Output>
      CommitTaskHeader: MessageTypeDefinition<_commitbridge_v1_CommitTaskHeader, _commitbridge_v1_CommitTaskHeader__Output>
      CommitTaskRequest: MessageTypeDefinition<_commitbridge_v1_CommitTaskRequest, _commitbridge_v1_CommitTaskRequest__Output>
      CommitTaskResponse: MessageTypeDefinition<_commitbridge_v1_CommitTaskResponse, _commitbridge_v1_CommitTaskResponse__Output>
      ConflictMode: EnumTypeDefinition
      ConflictScope: EnumTypeDefinition
      ExactWinners: MessageTypeDefinition<_commitbridge_v1_ExactWinners, _commitbridge_v1_ExactWinners__Output>
      InlineFile: MessageTypeDefinition<_commitbridge_v1_InlineFile, _commitbridge_v1_InlineFile__Output>
      IsCommitJobRepeatableRequest: MessageTypeDefinition<_commitbridge_v1_IsCommitJobRepeatableRequest, _commitbridge_v1_IsCommitJobRepeatableRequest__Output>
      IsCommitJobRepeatableResponse: MessageTypeDefinition<_commitbridge_v1_IsCommitJobRepeatableResponse, _commitbridge_v1_IsCommitJobRepeatableResponse__Output>
      IsRecoverySupportedRequest: MessageTypeDefinition<_commitbridge_v1_IsRecoverySupportedRequest, _commitbridge_v1_IsRecoverySupportedRequest__Output>
      IsRecoverySupportedResponse: MessageTypeDefinition<_commitbridge_v1_IsRecoverySupportedResponse, _commitbridge_v1_IsRecoverySupportedResponse__Output>
      JobOptions: MessageTypeDefinition<_commitbridge_v1_JobOptions, _commitbridge_v1_JobOptions__Output>
      JobRef: MessageTypeDefinition<_commitbridge_v1_JobRef, _commitbridge_v1_JobRef__Output>
      JobService: SubtypeConstructor<typeof grpc.Client, _commitbridge_v1_JobServiceClient> & { service: _commitbridge_v1_JobServiceDefinition }
      NeedsTaskCommitRequest: MessageTypeDefinition<_commitbridge_v1_NeedsTaskCommitRequest, _commitbridge_v1_NeedsTaskCommitRequest__Output>
      NeedsTaskCommitResponse: MessageTypeDefinition<_commitbridge_v1_NeedsTaskCommitResponse, _commitbridge_v1_NeedsTaskCommitResponse__Output>
      PendingFile: MessageTypeDefinition<_commitbridge_v1_PendingFile, _commitbridge_v1_PendingFile__Output>
      Pendingsets: MessageTypeDefinition<_commitbridge_v1_Pendingsets, _commitbridge_v1_Pendingsets__Output>
      RecoverTaskRequest: MessageTypeDefinition<_commitbridge_v1_RecoverTaskRequest, _commitbridge_v1_RecoverTaskRequest__Output>
      RecoverTaskResponse: MessageTypeDefinition<_commitbridge_v1_RecoverTaskResponse, _commitbridge_v1_RecoverTaskResponse__Output>
      SetupJobRequest: MessageTypeDefinition<_commitbridge_v1_SetupJobRequest, _commitbridge_v1_SetupJobRequest__Output>
      SetupJobResponse: MessageTypeDefinition<_commitbridge_v1_SetupJobResponse, _commitbridge_v1_SetupJobResponse__Output>
      SetupTaskRequest: MessageTypeDefinition<_commitbridge_v1_SetupTaskRequest, _commitbridge_v1_SetupTaskRequest__Output>
      SetupTaskResponse: MessageTypeDefinition<_commitbridge_v1_SetupTaskResponse, _commitbridge_v1_SetupTaskResponse__Output>
      SignedPart: MessageTypeDefinition<_commitbridge_v1_SignedPart, _commitbridge_v1_SignedPart__Output>
      TaskAttemptRef: MessageTypeDefinition<_commitbridge_v1_TaskAttemptRef, _commitbridge_v1_TaskAttemptRef__Output>
      TaskRecords: EnumTypeDefinition
      UploadedPart: MessageTypeDefinition<_commitbridge_v1_UploadedPart, _commitbridge_v1_UploadedPart__Output>
    }
  }
  google: {
    protobuf: {
      Timestamp: MessageTypeDefinition<_google_protobuf_Timestamp, _google_protobuf_Timestamp__Output>
    }
  }
}

