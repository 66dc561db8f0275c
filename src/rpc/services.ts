import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import type { AppContext } from '../app/context.js';
import { adminService } from './admin-service.js';
import { withMalformedRequests } from './handler.js';
import { jobService } from './job-service.js';
import { serviceDefinition, type ServiceName } from './proto.js';
import type { GrpcService } from './server/server.js';
import { uploadService } from './upload-service.js';

/** Everything that a daemon serves besides health and reflection. */
export function createServices(ctx: AppContext): GrpcService[] {
  const implementations: Readonly<Record<ServiceName, object>> = {
    'commitbridge.v1.JobService': jobService(ctx),
    'commitbridge.v1.UploadService': uploadService(ctx),
    'commitbridge.v1.AdminService': adminService(ctx),
  };
  return Object.entries(implementations).map(([name, implementation]) => ({
    name,
    definition: withMalformedRequests(serviceDefinition(name as ServiceName)),
    implementation: implementation as UntypedServiceImplementation,
  }));
}
