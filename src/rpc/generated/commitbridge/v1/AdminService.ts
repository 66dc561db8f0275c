// Original file: proto/commitbridge/v1/admin_service.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { GetServerInfoRequest as _commitbridge_v1_GetServerInfoRequest, GetServerInfoRequest__Output as _commitbridge_v1_GetServerInfoRequest__Output } from '../../commitbridge/v1/GetServerInfoRequest.js';
import type { GetServerInfoResponse as _commitbridge_v1_GetServerInfoResponse, GetServerInfoResponse__Output as _commitbridge_v1_GetServerInfoResponse__Output } from '../../commitbridge/v1/GetServerInfoResponse.js';

export interface AdminServiceClient extends grpc.Client {
  GetServerInfo(argument: _commitbridge_v1_GetServerInfoRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_GetServerInfoResponse__Output>): grpc.ClientUnaryCall;
  GetServerInfo(argument: _commitbridge_v1_GetServerInfoRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_GetServerInfoResponse__Output>): grpc.ClientUnaryCall;
  GetServerInfo(argument: _commitbridge_v1_GetServerInfoRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_GetServerInfoResponse__Output>): grpc.ClientUnaryCall;
  GetServerInfo(argument: _commitbridge_v1_GetServerInfoRequest, callback: grpc.requestCallback<_commitbridge_v1_GetServerInfoResponse__Output>): grpc.ClientUnaryCall;
  getServerInfo(argument: _commitbridge_v1_GetServerInfoRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_GetServerInfoResponse__Output>): grpc.ClientUnaryCall;
  getServerInfo(argument: _commitbridge_v1_GetServerInfoRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_commitbridge_v1_GetServerInfoResponse__Output>): grpc.ClientUnaryCall;
  getServerInfo(argument: _commitbridge_v1_GetServerInfoRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_commitbridge_v1_GetServerInfoResponse__Output>): grpc.ClientUnaryCall;
  getServerInfo(argument: _commitbridge_v1_GetServerInfoRequest, callback: grpc.requestCallback<_commitbridge_v1_GetServerInfoResponse__Output>): grpc.ClientUnaryCall;
  
}

export interface AdminServiceHandlers extends grpc.UntypedServiceImplementation {
  GetServerInfo: grpc.handleUnaryCall<_commitbridge_v1_GetServerInfoRequest__Output, _commitbridge_v1_GetServerInfoResponse>;
  
}

export interface AdminServiceDefinition extends grpc.ServiceDefinition {
  GetServerInfo: MethodDefinition<_commitbridge_v1_GetServerInfoRequest, _commitbridge_v1_GetServerInfoResponse, _commitbridge_v1_GetServerInfoRequest__Output, _commitbridge_v1_GetServerInfoResponse__Output>
}
