import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { AdminServiceClient as _commitbridge_v1_AdminServiceClient, AdminServiceDefinition as _commitbridge_v1_AdminServiceDefinition } from './commitbridge/v1/AdminService.js';
import type { GetServerInfoRequest as _commitbridge_v1_GetServerInfoRequest, GetServerInfoRequest__Output as _commitbridge_v1_GetServerInfoRequest__Output } from './commitbridge/v1/GetServerInfoRequest.js';
import type { GetServerInfoResponse as _commitbridge_v1_GetServerInfoResponse, GetServerInfoResponse__Output as _commitbridge_v1_GetServerInfoResponse__Output } from './commitbridge/v1/GetServerInfoResponse.js';
import type { Limits as _commitbridge_v1_Limits, Limits__Output as _commitbridge_v1_Limits__Output } from './commitbridge/v1/Limits.js';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  commitbridge: {
    v1: {
      AdminService: SubtypeConstructor<typeof grpc.Client, _commitbridge_v1_AdminServiceClient> & { service: _commitbridge_v1_AdminServiceDefinition }
      DataPlane: EnumTypeDefinition
      GetServerInfoRequest: MessageTypeDefinition<_commitbridge_v1_GetServerInfoRequest, _commitbridge_v1_GetServerInfoRequest__Output>
      GetServerInfoResponse: MessageTypeDefinition<_commitbridge_v1_GetServerInfoResponse, _commitbridge_v1_GetServerInfoResponse__Output>
      Limits: MessageTypeDefinition<_commitbridge_v1_Limits, _commitbridge_v1_Limits__Output>
    }
  }
}

