// Original file: proto/commitbridge/v1/upload_service.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AbortFileRequest as _commitbridge_v1_AbortFileRequest, AbortFileRequest__Output as _commitbridge_v1_AbortFileRequest__Output } from '../../commitbridge/v1/AbortFileRequest.js';
import type { AbortFileResponse as _commitbridge_v1_AbortFileResponse, AbortFileResponse__Output as _commitbridge_v1_AbortFileResponse__Output } from '../../commitbridge/v1/AbortFileResponse.js';
import type { CloseFileRequest as _commitbridge_v1_CloseFileRequest, CloseFileRequest__Output as _commitbridge_v1_CloseFileRequest__Output } from '../../commitbridge/v1/CloseFileRequest.js';
import type { CloseFileResponse as _commitbridge_v1_CloseFileResponse, CloseFileResponse__Output as _commitbridge_v1_CloseFileResponse__Output } from '../../commitbridge/v1/CloseFileResponse.js';
import type { OpenFileRequest as _commitbridge_v1_OpenFileRequest, OpenFileRequest__Output as _commitbridge_v1_OpenFileRequest__Output } from '../../commitbridge/v1/OpenFileRequest.js';
import type { OpenFileResponse as _commitbridge_v1_OpenFileResponse, OpenFileResponse__Output as _commitbridge_v1_OpenFileResponse__Output } from '../../commitbridge/v1/OpenFileResponse.js';
import type { SignPartsRequest as _commitbridge_v1_SignPartsRequest, SignPartsRequest__Output as _commitbridge_v1_SignPartsRequest__Output } from '../../commitbridge/v1/SignPartsRequest.js';
import type { SignPartsResponse as _commitbridge_v1_SignPartsResponse, SignPartsResponse__Output as _commitbridge_v1_SignPartsResponse__Output } from '../../commitbridge/v1/SignPartsResponse.js';

export interface UploadServiceClient extends grpc.Client {
  AbortFile(argument: _commitbridge_v1_AbortFileRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_AbortFileResponse__Output>): grpc.ClientUnaryCall;
  AbortFile(argument: _commitbridge_v1_AbortFileRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_AbortFileResponse__Output>): grpc.ClientUnaryCall;
  AbortFile(argument: _commitbridge_v1_AbortFileRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_AbortFileResponse__Output>): grpc.ClientUnaryCall;
  AbortFile(argument: _commitbridge_v1_AbortFileRequest, callback: grpc.requestCallback<_commitbridge_v1_AbortFileResponse__Output>): grpc.ClientUnaryCall;
  abortFile(argument: _commitbridge_v1_AbortFileRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_AbortFileResponse__Output>): grpc.ClientUnaryCall;
  abortFile(argument: _commitbridge_v1_AbortFileRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_AbortFileResponse__Output>): grpc.ClientUnaryCall;
  abortFile(argument: _commitbridge_v1_AbortFileRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_AbortFileResponse__Output>): grpc.ClientUnaryCall;
  abortFile(argument: _commitbridge_v1_AbortFileRequest, callback: grpc.requestCallback<_commitbridge_v1_AbortFileResponse__Output>): grpc.ClientUnaryCall;
  
  CloseFile(argument: _commitbridge_v1_CloseFileRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CloseFileResponse__Output>): grpc.ClientUnaryCall;
  CloseFile(argument: _commitbridge_v1_CloseFileRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_CloseFileResponse__Output>): grpc.ClientUnaryCall;
  CloseFile(argument: _commitbridge_v1_CloseFileRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CloseFileResponse__Output>): grpc.ClientUnaryCall;
  CloseFile(argument: _commitbridge_v1_CloseFileRequest, callback: grpc.requestCallback<_commitbridge_v1_CloseFileResponse__Output>): grpc.ClientUnaryCall;
  closeFile(argument: _commitbridge_v1_CloseFileRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CloseFileResponse__Output>): grpc.ClientUnaryCall;
  closeFile(argument: _commitbridge_v1_CloseFileRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_CloseFileResponse__Output>): grpc.ClientUnaryCall;
  closeFile(argument: _commitbridge_v1_CloseFileRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_CloseFileResponse__Output>): grpc.ClientUnaryCall;
  closeFile(argument: _commitbridge_v1_CloseFileRequest, callback: grpc.requestCallback<_commitbridge_v1_CloseFileResponse__Output>): grpc.ClientUnaryCall;
  
  OpenFile(argument: _commitbridge_v1_OpenFileRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_OpenFileResponse__Output>): grpc.ClientUnaryCall;
  OpenFile(argument: _commitbridge_v1_OpenFileRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_OpenFileResponse__Output>): grpc.ClientUnaryCall;
  OpenFile(argument: _commitbridge_v1_OpenFileRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_OpenFileResponse__Output>): grpc.ClientUnaryCall;
  OpenFile(argument: _commitbridge_v1_OpenFileRequest, callback: grpc.requestCallback<_commitbridge_v1_OpenFileResponse__Output>): grpc.ClientUnaryCall;
  openFile(argument: _commitbridge_v1_OpenFileRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_OpenFileResponse__Output>): grpc.ClientUnaryCall;
  openFile(argument: _commitbridge_v1_OpenFileRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_OpenFileResponse__Output>): grpc.ClientUnaryCall;
  openFile(argument: _commitbridge_v1_OpenFileRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_OpenFileResponse__Output>): grpc.ClientUnaryCall;
  openFile(argument: _commitbridge_v1_OpenFileRequest, callback: grpc.requestCallback<_commitbridge_v1_OpenFileResponse__Output>): grpc.ClientUnaryCall;
  
  SignParts(argument: _commitbridge_v1_SignPartsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_SignPartsResponse__Output>): grpc.ClientUnaryCall;
  SignParts(argument: _commitbridge_v1_SignPartsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_SignPartsResponse__Output>): grpc.ClientUnaryCall;
  SignParts(argument: _commitbridge_v1_SignPartsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_SignPartsResponse__Output>): grpc.ClientUnaryCall;
  SignParts(argument: _commitbridge_v1_SignPartsRequest, callback: grpc.requestCallback<_commitbridge_v1_SignPartsResponse__Output>): grpc.ClientUnaryCall;
  signParts(argument: _commitbridge_v1_SignPartsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_SignPartsResponse__Output>): grpc.ClientUnaryCall;
  signParts(argument: _commitbridge_v1_SignPartsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_SignPartsResponse__Output>): grpc.ClientUnaryCall;
  signParts(argument: _commitbridge_v1_SignPartsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_SignPartsResponse__Output>): grpc.ClientUnaryCall;
  signParts(argument: _commitbridge_v1_SignPartsRequest, callback: grpc.requestCallback<_commitbridge_v1_SignPartsResponse__Output>): grpc.ClientUnaryCall;
  
}

export interface UploadServiceHandlers extends grpc.UntypedServiceImplementation {
  AbortFile: grpc.handleUnaryCall<_commitbridge_v1_AbortFileRequest__Output, _commitbridge_v1_AbortFileResponse>;
  
  CloseFile: grpc.handleUnaryCall<_commitbridge_v1_CloseFileRequest__Output, _commitbridge_v1_CloseFileResponse>;
  
  OpenFile: grpc.handleUnaryCall<_commitbridge_v1_OpenFileRequest__Output, _commitbridge_v1_OpenFileResponse>;
  
  SignParts: grpc.handleUnaryCall<_commitbridge_v1_SignPartsRequest__Output, _commitbridge_v1_SignPartsResponse>;
  
}

export interface UploadServiceDefinition extends grpc.ServiceDefinition {
  AbortFile: MethodDefinition<_commitbridge_v1_AbortFileRequest, _commitbridge_v1_AbortFileResponse, _commitbridge_v1_AbortFileRequest__Output, _commitbridge_v1_AbortFileResponse__Output>
  CloseFile: MethodDefinition<_commitbridge_v1_CloseFileRequest, _commitbridge_v1_CloseFileResponse, _commitbridge_v1_CloseFileRequest__Output, _commitbridge_v1_CloseFileResponse__Output>
  OpenFile: MethodDefinition<_commitbridge_v1_OpenFileRequest, _commitbridge_v1_OpenFileResponse, _commitbridge_v1_OpenFileRequest__Output, _commitbridge_v1_OpenFileResponse__Output>
  SignParts: MethodDefinition<_commitbridge_v1_SignPartsRequest, _commitbridge_v1_SignPartsResponse, _commitbridge_v1_SignPartsRequest__Output, _commitbridge_v1_SignPartsResponse__Output>
}
