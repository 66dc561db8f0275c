import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AbortFileRequest as _commitbridge_v1_AbortFileRequest, AbortFileRequest__Output as _commitbridge_v1_AbortFileRequest__Output } from './commitbridge/v1/AbortFileRequest.js';
import type { AbortFileResponse as _commitbridge_v1_AbortFileResponse, AbortFileResponse__Output as _commitbridge_v1_AbortFileResponse__Output } from './commitbridge/v1/AbortFileResponse.js';
import type { CloseFileRequest as _commitbridge_v1_CloseFileRequest, CloseFileRequest__Output as _commitbridge_v1_CloseFileRequest__Output } from './commitbridge/v1/CloseFileRequest.js';
import type { CloseFileResponse as _commitbridge_v1_CloseFileResponse, CloseFileResponse__Output as _commitbridge_v1_CloseFileResponse__Output } from './commitbridge/v1/CloseFileResponse.js';
import type { ClosedFile as _commitbridge_v1_ClosedFile, ClosedFile__Output as _commitbridge_v1_ClosedFile__Output } from './commitbridge/v1/ClosedFile.js';
import type { InlineFile as _commitbridge_v1_InlineFile, InlineFile__Output as _commitbridge_v1_InlineFile__Output } from './commitbridge/v1/InlineFile.js';
import type { JobRef as _commitbridge_v1_JobRef, JobRef__Output as _commitbridge_v1_JobRef__Output } from './commitbridge/v1/JobRef.js';
import type { OpenFileRequest as _commitbridge_v1_OpenFileRequest, OpenFileRequest__Output as _commitbridge_v1_OpenFileRequest__Output } from './commitbridge/v1/OpenFileRequest.js';
import type { OpenFileResponse as _commitbridge_v1_OpenFileResponse, OpenFileResponse__Output as _commitbridge_v1_OpenFileResponse__Output } from './commitbridge/v1/OpenFileResponse.js';
import type { PendingFile as _commitbridge_v1_PendingFile, PendingFile__Output as _commitbridge_v1_PendingFile__Output } from './commitbridge/v1/PendingFile.js';
import type { SignPartsRequest as _commitbridge_v1_SignPartsRequest, SignPartsRequest__Output as _commitbridge_v1_SignPartsRequest__Output } from './commitbridge/v1/SignPartsRequest.js';
import type { SignPartsResponse as _commitbridge_v1_SignPartsResponse, SignPartsResponse__Output as _commitbridge_v1_SignPartsResponse__Output } from './commitbridge/v1/SignPartsResponse.js';
import type { SignedPart as _commitbridge_v1_SignedPart, SignedPart__Output as _commitbridge_v1_SignedPart__Output } from './commitbridge/v1/SignedPart.js';
import type { TaskAttemptRef as _commitbridge_v1_TaskAttemptRef, TaskAttemptRef__Output as _commitbridge_v1_TaskAttemptRef__Output } from './commitbridge/v1/TaskAttemptRef.js';
import type { UploadServiceClient as _commitbridge_v1_UploadServiceClient, UploadServiceDefinition as _commitbridge_v1_UploadServiceDefinition } from './commitbridge/v1/UploadService.js';
import type { UploadedPart as _commitbridge_v1_UploadedPart, UploadedPart__Output as _commitbridge_v1_UploadedPart__Output } from './commitbridge/v1/UploadedPart.js';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from './google/protobuf/Timestamp.js';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  commitbridge: {
    v1: {
      AbortFileRequest: MessageTypeDefinition<_commitbridge_v1_AbortFileRequest, _commitbridge_v1_AbortFileRequest__Output>
      AbortFileResponse: MessageTypeDefinition<_commitbridge_v1_AbortFileResponse, _commitbridge_v1_AbortFileResponse__Output>
      CloseFileRequest: MessageTypeDefinition<_commitbridge_v1_CloseFileRequest, _commitbridge_v1_CloseFileRequest__Output>
      CloseFileResponse: MessageTypeDefinition<_commitbridge_v1_CloseFileResponse, _commitbridge_v1_CloseFileResponse__Output>
      ClosedFile: MessageTypeDefinition<_commitbridge_v1_ClosedFile, _commitbridge_v1_ClosedFile__Output>
      InlineFile: MessageTypeDefinition<_commitbridge_v1_InlineFile, _commitbridge_v1_InlineFile__Output>
      JobRef: MessageTypeDefinition<_commitbridge_v1_JobRef, _commitbridge_v1_JobRef__Output>
      OpenFileRequest: MessageTypeDefinition<_commitbridge_v1_OpenFileRequest, _commitbridge_v1_OpenFileRequest__Output>
      OpenFileResponse: MessageTypeDefinition<_commitbridge_v1_OpenFileResponse, _commitbridge_v1_OpenFileResponse__Output>
      PendingFile: MessageTypeDefinition<_commitbridge_v1_PendingFile, _commitbridge_v1_PendingFile__Output>
      SignPartsRequest: MessageTypeDefinition<_commitbridge_v1_SignPartsRequest, _commitbridge_v1_SignPartsRequest__Output>
      SignPartsResponse: MessageTypeDefinition<_commitbridge_v1_SignPartsResponse, _commitbridge_v1_SignPartsResponse__Output>
      SignedPart: MessageTypeDefinition<_commitbridge_v1_SignedPart, _commitbridge_v1_SignedPart__Output>
      TaskAttemptRef: MessageTypeDefinition<_commitbridge_v1_TaskAttemptRef, _commitbridge_v1_TaskAttemptRef__Output>
      UploadService: SubtypeConstructor<typeof grpc.Client, _commitbridge_v1_UploadServiceClient> & { service: _commitbridge_v1_UploadServiceDefinition }
      UploadedPart: MessageTypeDefinition<_commitbridge_v1_UploadedPart, _commitbridge_v1_UploadedPart__Output>
    }
  }
  google: {
    protobuf: {
      Timestamp: MessageTypeDefinition<_google_protobuf_Timestamp, _google_protobuf_Timestamp__Output>
    }
  }
}

