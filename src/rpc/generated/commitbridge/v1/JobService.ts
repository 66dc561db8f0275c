// Original file: proto/commitbridge/v1/job_service.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AbortJobRequest as _commitbridge_v1_AbortJobRequest, AbortJobRequest__Output as _commitbridge_v1_AbortJobRequest__Output } from '../../commitbridge/v1/AbortJobRequest.js';
import type { AbortJobResponse as _commitbridge_v1_AbortJobResponse, AbortJobResponse__Output as _commitbridge_v1_AbortJobResponse__Output } from '../../commitbridge/v1/AbortJobResponse.js';
import type { AbortTaskRequest as _commitbridge_v1_AbortTaskRequest, AbortTaskRequest__Output as _commitbridge_v1_AbortTaskRequest__Output } from '../../commitbridge/v1/AbortTaskRequest.js';
import type { AbortTaskResponse as _commitbridge_v1_AbortTaskResponse, AbortTaskResponse__Output as _commitbridge_v1_AbortTaskResponse__Output } from '../../commitbridge/v1/AbortTaskResponse.js';
import type { CommitJobRequest as _commitbridge_v1_CommitJobRequest, CommitJobRequest__Output as _commitbridge_v1_CommitJobRequest__Output } from '../../commitbridge/v1/CommitJobRequest.js';
import type { CommitJobResponse as _commitbridge_v1_CommitJobResponse, CommitJobResponse__Output as _commitbridge_v1_CommitJobResponse__Output } from '../../commitbridge/v1/CommitJobResponse.js';
import type { CommitJobWithPendingsetsRequest as _commitbridge_v1_CommitJobWithPendingsetsRequest, CommitJobWithPendingsetsRequest__Output as _commitbridge_v1_CommitJobWithPendingsetsRequest__Output } from '../../commitbridge/v1/CommitJobWithPendingsetsRequest.js';
import type { CommitJobWithPendingsetsResponse as _commitbridge_v1_CommitJobWithPendingsetsResponse, CommitJobWithPendingsetsResponse__Output as _commitbridge_v1_CommitJobWithPendingsetsResponse__Output } from '../../commitbridge/v1/CommitJobWithPendingsetsResponse.js';
import type { CommitTaskRequest as _commitbridge_v1_CommitTaskRequest, CommitTaskRequest__Output as _commitbridge_v1_CommitTaskRequest__Output } from '../../commitbridge/v1/CommitTaskRequest.js';
import type { CommitTaskResponse as _commitbridge_v1_CommitTaskResponse, CommitTaskResponse__Output as _commitbridge_v1_CommitTaskResponse__Output } from '../../commitbridge/v1/CommitTaskResponse.js';
import type { IsCommitJobRepeatableRequest as _commitbridge_v1_IsCommitJobRepeatableRequest, IsCommitJobRepeatableRequest__Output as _commitbridge_v1_IsCommitJobRepeatableRequest__Output } from '../../commitbridge/v1/IsCommitJobRepeatableRequest.js';
import type { IsCommitJobRepeatableResponse as _commitbridge_v1_IsCommitJobRepeatableResponse, IsCommitJobRepeatableResponse__Output as _commitbridge_v1_IsCommitJobRepeatableResponse__Output } from '../../commitbridge/v1/IsCommitJobRepeatableResponse.js';
import type { IsRecoverySupportedRequest as _commitbridge_v1_IsRecoverySupportedRequest, IsRecoverySupportedRequest__Output as _commitbridge_v1_IsRecoverySupportedRequest__Output } from '../../commitbridge/v1/IsRecoverySupportedRequest.js';
import type { IsRecoverySupportedResponse as _commitbridge_v1_IsRecoverySupportedResponse, IsRecoverySupportedResponse__Output as _commitbridge_v1_IsRecoverySupportedResponse__Output } from '../../commitbridge/v1/IsRecoverySupportedResponse.js';
import type { NeedsTaskCommitRequest as _commitbridge_v1_NeedsTaskCommitRequest, NeedsTaskCommitRequest__Output as _commitbridge_v1_NeedsTaskCommitRequest__Output } from '../../commitbridge/v1/NeedsTaskCommitRequest.js';
import type { NeedsTaskCommitResponse as _commitbridge_v1_NeedsTaskCommitResponse, NeedsTaskCommitResponse__Output as _commitbridge_v1_NeedsTaskCommitResponse__Output } from '../../commitbridge/v1/NeedsTaskCommitResponse.js';
import type { RecoverTaskRequest as _commitbridge_v1_RecoverTaskRequest, RecoverTaskRequest__Output as _commitbridge_v1_RecoverTaskRequest__Output } from '../../commitbridge/v1/RecoverTaskRequest.js';
import type { RecoverTaskResponse as _commitbridge_v1_RecoverTaskResponse, RecoverTaskResponse__Output as _commitbridge_v1_RecoverTaskResponse__Output } from '../../commitbridge/v1/RecoverTaskResponse.js';
import type { SetupJobRequest as _commitbridge_v1_SetupJobRequest, SetupJobRequest__Output as _commitbridge_v1_SetupJobRequest__Output } from '../../commitbridge/v1/SetupJobRequest.js';
import type { SetupJobResponse as _commitbridge_v1_SetupJobResponse, SetupJobResponse__Output as _commitbridge_v1_SetupJobResponse__Output } from '../../commitbridge/v1/SetupJobResponse.js';
import type { SetupTaskRequest as _commitbridge_v1_SetupTaskRequest, SetupTaskRequest__Output as _commitbridge_v1_SetupTaskRequest__Output } from '../../commitbridge/v1/SetupTaskRequest.js';
import type { SetupTaskResponse as _commitbridge_v1_SetupTaskResponse, SetupTaskResponse__Output as _commitbridge_v1_SetupTaskResponse__Output } from '../../commitbridge/v1/SetupTaskResponse.js';

export interface JobServiceClient extends grpc.Client {
  AbortJob(argument: _commitbridge_v1_AbortJobRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_AbortJobResponse__Output>): grpc.ClientUnaryCall;
  AbortJob(argument: _commitbridge_v1_AbortJobRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_AbortJobResponse__Output>): grpc.ClientUnaryCall;
  AbortJob(argument: _commitbridge_v1_AbortJobRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_AbortJobResponse__Output>): grpc.ClientUnaryCall;
  AbortJob(argument: _commitbridge_v1_AbortJobRequest, callback: grpc.requestCallback<_commitbridge_v1_AbortJobResponse__Output>): grpc.ClientUnaryCall;
  abortJob(argument: _commitbridge_v1_AbortJobRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_AbortJobResponse__Output>): grpc.ClientUnaryCall;
  abortJob(argument: _commitbridge_v1_AbortJobRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_AbortJobResponse__Output>): grpc.ClientUnaryCall;
  abortJob(argument: _commitbridge_v1_AbortJobRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_AbortJobResponse__Output>): grpc.ClientUnaryCall;
  abortJob(argument: _commitbridge_v1_AbortJobRequest, callback: grpc.requestCallback<_commitbridge_v1_AbortJobResponse__Output>): grpc.ClientUnaryCall;
  
  AbortTask(argument: _commitbridge_v1_AbortTaskRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_AbortTaskResponse__Output>): grpc.ClientUnaryCall;
  AbortTask(argument: _commitbridge_v1_AbortTaskRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_AbortTaskResponse__Output>): grpc.ClientUnaryCall;
  AbortTask(argument: _commitbridge_v1_AbortTaskRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_AbortTaskResponse__Output>): grpc.ClientUnaryCall;
  AbortTask(argument: _commitbridge_v1_AbortTaskRequest, callback: grpc.requestCallback<_commitbridge_v1_AbortTaskResponse__Output>): grpc.ClientUnaryCall;
  abortTask(argument: _commitbridge_v1_AbortTaskRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_AbortTaskResponse__Output>): grpc.ClientUnaryCall;
  abortTask(argument: _commitbridge_v1_AbortTaskRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_AbortTaskResponse__Output>): grpc.ClientUnaryCall;
  abortTask(argument: _commitbridge_v1_AbortTaskRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_AbortTaskResponse__Output>): grpc.ClientUnaryCall;
  abortTask(argument: _commitbridge_v1_AbortTaskRequest, callback: grpc.requestCallback<_commitbridge_v1_AbortTaskResponse__Output>): grpc.ClientUnaryCall;
  
  CommitJob(argument: _commitbridge_v1_CommitJobRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CommitJobResponse__Output>): grpc.ClientUnaryCall;
  CommitJob(argument: _commitbridge_v1_CommitJobRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_CommitJobResponse__Output>): grpc.ClientUnaryCall;
  CommitJob(argument: _commitbridge_v1_CommitJobRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CommitJobResponse__Output>): grpc.ClientUnaryCall;
  CommitJob(argument: _commitbridge_v1_CommitJobRequest, callback: grpc.requestCallback<_commitbridge_v1_CommitJobResponse__Output>): grpc.ClientUnaryCall;
  commitJob(argument: _commitbridge_v1_CommitJobRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CommitJobResponse__Output>): grpc.ClientUnaryCall;
  commitJob(argument: _commitbridge_v1_CommitJobRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_CommitJobResponse__Output>): grpc.ClientUnaryCall;
  commitJob(argument: _commitbridge_v1_CommitJobRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CommitJobResponse__Output>): grpc.ClientUnaryCall;
  commitJob(argument: _commitbridge_v1_CommitJobRequest, callback: grpc.requestCallback<_commitbridge_v1_CommitJobResponse__Output>): grpc.ClientUnaryCall;
  
  CommitJobWithPendingsets(metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CommitJobWithPendingsetsResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitJobWithPendingsetsRequest>;
  CommitJobWithPendingsets(metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_CommitJobWithPendingsetsResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitJobWithPendingsetsRequest>;
  CommitJobWithPendingsets(options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CommitJobWithPendingsetsResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitJobWithPendingsetsRequest>;
  CommitJobWithPendingsets(callback: grpc.requestCallback<_commitbridge_v1_CommitJobWithPendingsetsResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitJobWithPendingsetsRequest>;
  commitJobWithPendingsets(metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CommitJobWithPendingsetsResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitJobWithPendingsetsRequest>;
  commitJobWithPendingsets(metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_CommitJobWithPendingsetsResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitJobWithPendingsetsRequest>;
  commitJobWithPendingsets(options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CommitJobWithPendingsetsResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitJobWithPendingsetsRequest>;
  commitJobWithPendingsets(callback: grpc.requestCallback<_commitbridge_v1_CommitJobWithPendingsetsResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitJobWithPendingsetsRequest>;
  
  CommitTask(metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CommitTaskResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitTaskRequest>;
  CommitTask(metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_CommitTaskResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitTaskRequest>;
  CommitTask(options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CommitTaskResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitTaskRequest>;
  CommitTask(callback: grpc.requestCallback<_commitbridge_v1_CommitTaskResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitTaskRequest>;
  commitTask(metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CommitTaskResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitTaskRequest>;
  commitTask(metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_CommitTaskResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitTaskRequest>;
  commitTask(options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CommitTaskResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitTaskRequest>;
  commitTask(callback: grpc.requestCallback<_commitbridge_v1_CommitTaskResponse__Output>): grpc.ClientWritableStream<_commitbridge_v1_CommitTaskRequest>;
  
  IsCommitJobRepeatable(argument: _commitbridge_v1_IsCommitJobRepeatableRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_IsCommitJobRepeatableResponse__Output>): grpc.ClientUnaryCall;
  IsCommitJobRepeatable(argument: _commitbridge_v1_IsCommitJobRepeatableRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_IsCommitJobRepeatableResponse__Output>): grpc.ClientUnaryCall;
  IsCommitJobRepeatable(argument: _commitbridge_v1_IsCommitJobRepeatableRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_IsCommitJobRepeatableResponse__Output>): grpc.ClientUnaryCall;
  IsCommitJobRepeatable(argument: _commitbridge_v1_IsCommitJobRepeatableRequest, callback: grpc.requestCallback<_commitbridge_v1_IsCommitJobRepeatableResponse__Output>): grpc.ClientUnaryCall;
  isCommitJobRepeatable(argument: _commitbridge_v1_IsCommitJobRepeatableRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_IsCommitJobRepeatableResponse__Output>): grpc.ClientUnaryCall;
  isCommitJobRepeatable(argument: _commitbridge_v1_IsCommitJobRepeatableRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_IsCommitJobRepeatableResponse__Output>): grpc.ClientUnaryCall;
  isCommitJobRepeatable(argument: _commitbridge_v1_IsCommitJobRepeatableRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_IsCommitJobRepeatableResponse__Output>): grpc.ClientUnaryCall;
  isCommitJobRepeatable(argument: _commitbridge_v1_IsCommitJobRepeatableRequest, callback: grpc.requestCallback<_commitbridge_v1_IsCommitJobRepeatableResponse__Output>): grpc.ClientUnaryCall;
  
  IsRecoverySupported(argument: _commitbridge_v1_IsRecoverySupportedRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_IsRecoverySupportedResponse__Output>): grpc.ClientUnaryCall;
  IsRecoverySupported(argument: _commitbridge_v1_IsRecoverySupportedRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_IsRecoverySupportedResponse__Output>): grpc.ClientUnaryCall;
  IsRecoverySupported(argument: _commitbridge_v1_IsRecoverySupportedRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_IsRecoverySupportedResponse__Output>): grpc.ClientUnaryCall;
  IsRecoverySupported(argument: _commitbridge_v1_IsRecoverySupportedRequest, callback: grpc.requestCallback<_commitbridge_v1_IsRecoverySupportedResponse__Output>): grpc.ClientUnaryCall;
  isRecoverySupported(argument: _commitbridge_v1_IsRecoverySupportedRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_IsRecoverySupportedResponse__Output>): grpc.ClientUnaryCall;
  isRecoverySupported(argument: _commitbridge_v1_IsRecoverySupportedRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_IsRecoverySupportedResponse__Output>): grpc.ClientUnaryCall;
  isRecoverySupported(argument: _commitbridge_v1_IsRecoverySupportedRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_IsRecoverySupportedResponse__Output>): grpc.ClientUnaryCall;
  isRecoverySupported(argument: _commitbridge_v1_IsRecoverySupportedRequest, callback: grpc.requestCallback<_commitbridge_v1_IsRecoverySupportedResponse__Output>): grpc.ClientUnaryCall;
  
  NeedsTaskCommit(argument: _commitbridge_v1_NeedsTaskCommitRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_NeedsTaskCommitResponse__Output>): grpc.ClientUnaryCall;
  NeedsTaskCommit(argument: _commitbridge_v1_NeedsTaskCommitRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_NeedsTaskCommitResponse__Output>): grpc.ClientUnaryCall;
  NeedsTaskCommit(argument: _commitbridge_v1_NeedsTaskCommitRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_NeedsTaskCommitResponse__Output>): grpc.ClientUnaryCall;
  NeedsTaskCommit(argument: _commitbridge_v1_NeedsTaskCommitRequest, callback: grpc.requestCallback<_commitbridge_v1_NeedsTaskCommitResponse__Output>): grpc.ClientUnaryCall;
  needsTaskCommit(argument: _commitbridge_v1_NeedsTaskCommitRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_NeedsTaskCommitResponse__Output>): grpc.ClientUnaryCall;
  needsTaskCommit(argument: _commitbridge_v1_NeedsTaskCommitRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_NeedsTaskCommitResponse__Output>): grpc.ClientUnaryCall;
  needsTaskCommit(argument: _commitbridge_v1_NeedsTaskCommitRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_NeedsTaskCommitResponse__Output>): grpc.ClientUnaryCall;
  needsTaskCommit(argument: _commitbridge_v1_NeedsTaskCommitRequest, callback: grpc.requestCallback<_commitbridge_v1_NeedsTaskCommitResponse__Output>): grpc.ClientUnaryCall;
  
  RecoverTask(argument: _commitbridge_v1_RecoverTaskRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_RecoverTaskResponse__Output>): grpc.ClientUnaryCall;
  RecoverTask(argument: _commitbridge_v1_RecoverTaskRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_RecoverTaskResponse__Output>): grpc.ClientUnaryCall;
  RecoverTask(argument: _commitbridge_v1_RecoverTaskRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_RecoverTaskResponse__Output>): grpc.ClientUnaryCall;
  RecoverTask(argument: _commitbridge_v1_RecoverTaskRequest, callback: grpc.requestCallback<_commitbridge_v1_RecoverTaskResponse__Output>): grpc.ClientUnaryCall;
  recoverTask(argument: _commitbridge_v1_RecoverTaskRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_RecoverTaskResponse__Output>): grpc.ClientUnaryCall;
  recoverTask(argument: _commitbridge_v1_RecoverTaskRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_RecoverTaskResponse__Output>): grpc.ClientUnaryCall;
  recoverTask(argument: _commitbridge_v1_RecoverTaskRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_RecoverTaskResponse__Output>): grpc.ClientUnaryCall;
  recoverTask(argument: _commitbridge_v1_RecoverTaskRequest, callback: grpc.requestCallback<_commitbridge_v1_RecoverTaskResponse__Output>): grpc.ClientUnaryCall;
  
  SetupJob(argument: _commitbridge_v1_SetupJobRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_SetupJobResponse__Output>): grpc.ClientUnaryCall;
  SetupJob(argument: _commitbridge_v1_SetupJobRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_SetupJobResponse__Output>): grpc.ClientUnaryCall;
  SetupJob(argument: _commitbridge_v1_SetupJobRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_SetupJobResponse__Output>): grpc.ClientUnaryCall;
  SetupJob(argument: _commitbridge_v1_SetupJobRequest, callback: grpc.requestCallback<_commitbridge_v1_SetupJobResponse__Output>): grpc.ClientUnaryCall;
  setupJob(argument: _commitbridge_v1_SetupJobRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_SetupJobResponse__Output>): grpc.ClientUnaryCall;
  setupJob(argument: _commitbridge_v1_SetupJobRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_SetupJobResponse__Output>): grpc.ClientUnaryCall;
  setupJob(argument: _commitbridge_v1_SetupJobRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_SetupJobResponse__Output>): grpc.ClientUnaryCall;
  setupJob(argument: _commitbridge_v1_SetupJobRequest, callback: grpc.requestCallback<_commitbridge_v1_SetupJobResponse__Output>): grpc.ClientUnaryCall;
  
  SetupTask(argument: _commitbridge_v1_SetupTaskRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_SetupTaskResponse__Output>): grpc.ClientUnaryCall;
  SetupTask(argument: _commitbridge_v1_SetupTaskRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_SetupTaskResponse__Output>): grpc.ClientUnaryCall;
  SetupTask(argument: _commitbridge_v1_SetupTaskRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_SetupTaskResponse__Output>): grpc.ClientUnaryCall;
  SetupTask(argument: _commitbridge_v1_SetupTaskRequest, callback: grpc.requestCallback<_commitbridge_v1_SetupTaskResponse__Output>): grpc.ClientUnaryCall;
  setupTask(argument: _commitbridge_v1_SetupTaskRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_SetupTaskResponse__Output>): grpc.ClientUnaryCall;
  setupTask(argument: _commitbridge_v1_SetupTaskRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_SetupTaskResponse__Output>): grpc.ClientUnaryCall;
  setupTask(argument: _commitbridge_v1_SetupTaskRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_SetupTaskResponse__Output>): grpc.ClientUnaryCall;
  setupTask(argument: _commitbridge_v1_SetupTaskRequest, callback: grpc.requestCallback<_commitbridge_v1_SetupTaskResponse__Output>): grpc.ClientUnaryCall;
  
}

export interface JobServiceHandlers extends grpc.UntypedServiceImplementation {
  AbortJob: grpc.handleUnaryCall<_commitbridge_v1_AbortJobRequest__Output, _commitbridge_v1_AbortJobResponse>;
  
  AbortTask: grpc.handleUnaryCall<_commitbridge_v1_AbortTaskRequest__Output, _commitbridge_v1_AbortTaskResponse>;
  
  CommitJob: grpc.handleUnaryCall<_commitbridge_v1_CommitJobRequest__Output, _commitbridge_v1_CommitJobResponse>;
  
  CommitJobWithPendingsets: grpc.handleClientStreamingCall<_commitbridge_v1_CommitJobWithPendingsetsRequest__Output, _commitbridge_v1_CommitJobWithPendingsetsResponse>;
  
  CommitTask: grpc.handleClientStreamingCall<_commitbridge_v1_CommitTaskRequest__Output, _commitbridge_v1_CommitTaskResponse>;
  
  IsCommitJobRepeatable: grpc.handleUnaryCall<_commitbridge_v1_IsCommitJobRepeatableRequest__Output, _commitbridge_v1_IsCommitJobRepeatableResponse>;
  
  IsRecoverySupported: grpc.handleUnaryCall<_commitbridge_v1_IsRecoverySupportedRequest__Output, _commitbridge_v1_IsRecoverySupportedResponse>;
  
  NeedsTaskCommit: grpc.handleUnaryCall<_commitbridge_v1_NeedsTaskCommitRequest__Output, _commitbridge_v1_NeedsTaskCommitResponse>;
  
  RecoverTask: grpc.handleUnaryCall<_commitbridge_v1_RecoverTaskRequest__Output, _commitbridge_v1_RecoverTaskResponse>;
  
  SetupJob: grpc.handleUnaryCall<_commitbridge_v1_SetupJobRequest__Output, _commitbridge_v1_SetupJobResponse>;
  
  SetupTask: grpc.handleUnaryCall<_commitbridge_v1_SetupTaskRequest__Output, _commitbridge_v1_SetupTaskResponse>;
  
}

export interface JobServiceDefinition extends grpc.ServiceDefinition {
  AbortJob: MethodDefinition<_commitbridge_v1_AbortJobRequest, _commitbridge_v1_AbortJobResponse, _commitbridge_v1_AbortJobRequest__Output, _commitbridge_v1_AbortJobResponse__Output>
  AbortTask: MethodDefinition<_commitbridge_v1_AbortTaskRequest, _commitbridge_v1_AbortTaskResponse, _commitbridge_v1_AbortTaskRequest__Output, _commitbridge_v1_AbortTaskResponse__Output>
  CommitJob: MethodDefinition<_commitbridge_v1_CommitJobRequest, _commitbridge_v1_CommitJobResponse, _commitbridge_v1_CommitJobRequest__Output, _commitbridge_v1_CommitJobResponse__Output>
  CommitJobWithPendingsets: MethodDefinition<_commitbridge_v1_CommitJobWithPendingsetsRequest, _commitbridge_v1_CommitJobWithPendingsetsResponse, _commitbridge_v1_CommitJobWithPendingsetsRequest__Output, _commitbridge_v1_CommitJobWithPendingsetsResponse__Output>
  CommitTask: MethodDefinition<_commitbridge_v1_CommitTaskRequest, _commitbridge_v1_CommitTaskResponse, _commitbridge_v1_CommitTaskRequest__Output, _commitbridge_v1_CommitTaskResponse__Output>
  IsCommitJobRepeatable: MethodDefinition<_commitbridge_v1_IsCommitJobRepeatableRequest, _commitbridge_v1_IsCommitJobRepeatableResponse, _commitbridge_v1_IsCommitJobRepeatableRequest__Output, _commitbridge_v1_IsCommitJobRepeatableResponse__Output>
  IsRecoverySupported: MethodDefinition<_commitbridge_v1_IsRecoverySupportedRequest, _commitbridge_v1_IsRecoverySupportedResponse, _commitbridge_v1_IsRecoverySupportedRequest__Output, _commitbridge_v1_IsRecoverySupportedResponse__Output>
  NeedsTaskCommit: MethodDefinition<_commitbridge_v1_NeedsTaskCommitRequest, _commitbridge_v1_NeedsTaskCommitResponse, _commitbridge_v1_NeedsTaskCommitRequest__Output, _commitbridge_v1_NeedsTaskCommitResponse__Output>
  RecoverTask: MethodDefinition<_commitbridge_v1_RecoverTaskRequest, _commitbridge_v1_RecoverTaskResponse, _commitbridge_v1_RecoverTaskRequest__Output, _commitbridge_v1_RecoverTaskResponse__Output>
  SetupJob: MethodDefinition<_commitbridge_v1_SetupJobRequest, _commitbridge_v1_SetupJobResponse, _commitbridge_v1_SetupJobRequest__Output, _commitbridge_v1_SetupJobResponse__Output>
  SetupTask: MethodDefinition<_commitbridge_v1_SetupTaskRequest, _commitbridge_v1_SetupTaskResponse, _commitbridge_v1_SetupTaskRequest__Output, _commitbridge_v1_SetupTaskResponse__Output>
}
