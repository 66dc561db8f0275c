import { fileURLToPath } from 'node:url';
import { loadSync, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader';

/** Also what `npm run gen` hands to proto-loader-gen-types: the generated types must match. */
const loaderOptions = {
  keepCase: false,
  longs: String,
  enums: String,
  bytes: Buffer,
  defaults: true,
  oneofs: true,
} as const;

const protoRoot = fileURLToPath(new URL('../../proto', import.meta.url));

/** Everything in `proto/commitbridge/v1`, for the server and for reflection. */
export const packageDefinition: PackageDefinition = loadSync(
  [
    'commitbridge/v1/job_service.proto',
    'commitbridge/v1/upload_service.proto',
    'commitbridge/v1/admin_service.proto',
    'commitbridge/v1/errors.proto',
  ],
  { ...loaderOptions, includeDirs: [protoRoot] },
);

export const serviceNames = [
  'commitbridge.v1.JobService',
  'commitbridge.v1.UploadService',
  'commitbridge.v1.AdminService',
] as const;

export type ServiceName = (typeof serviceNames)[number];

export function serviceDefinition(name: ServiceName): ServiceDefinition {
  return packageDefinition[name] as ServiceDefinition;
}
