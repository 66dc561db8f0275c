import type { LookupFunction } from 'node:net';
import type { StoreCapabilities } from '../../ports/object-store.js';

export interface OssStoreOptions {
  /** As `cn-hangzhou`. */
  readonly region: string;
  /** `https://host[:port]`; the region's own where it is missing. */
  readonly endpoint?: string;
  /** The region's endpoint within Aliyun's network. */
  readonly internal?: boolean;
  /** How a bucket is named in a URL; `bucket.endpoint` by default. */
  readonly addressing?: 'virtual-host' | 'path' | 'cname';
  readonly signature?: 'v1' | 'v4';
  readonly credentials: OssCredentialsOptions;
  /** Connections to the store at most; requests beyond wait for one. */
  readonly maxSockets?: number;
  /** For opening a connection; the time of a whole request is the decorator's. */
  readonly connectTimeoutMs?: number;
  /** In place of the machine's DNS, for tests: the names of OSS, at a server on loopback. */
  readonly lookup?: LookupFunction;
  readonly encryption?: { readonly mode: 'AES256' } | { readonly mode: 'KMS'; readonly kmsKeyId?: string };
  readonly storageClass?: string;
  /** What this store does otherwise than OSS. */
  readonly capabilities?: Partial<StoreCapabilities>;
}

export interface OssAccessKey {
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  readonly securityToken?: string;
}

export type OssCredentialsOptions =
  | ({ readonly kind: 'static' } & OssAccessKey)
  /** A file that somebody rotates; see `oss-credentials.ts` for its form. */
  | { readonly kind: 'file'; readonly path: string }
  /** Temporary ones of a RAM role, fetched again before they end. */
  | {
      readonly kind: 'sts';
      readonly roleArn: string;
      readonly sessionName: string;
      readonly durationSeconds: number;
      readonly endpoint?: string;
      /** Who may assume the role: by a lasting key, since ali-oss's client of STS sends no token. */
      readonly source: Omit<OssAccessKey, 'securityToken'>;
    };

const KIB = 1024;
const GIB = 1024 * 1024 * KIB;

/**
 * OSS. `x-oss-forbid-overwrite` is its only condition on a write: a PUT and a Complete may ask for an absent key, and
 * nothing may ask for an ETag. The header is limited to about a thousand requests a second.
 */
export const OSS_CAPABILITIES: StoreCapabilities = {
  conditionalPut: true,
  conditionalOverwrite: false,
  conditionalComplete: true,
  dearConditionalComplete: true,
  conditionalDelete: false,
  listUploadsByPrefix: true,
  presign: true,
  idempotentComplete: false,
  equalParts: false,
  emptyParts: true,
  minPartBytes: 100 * KIB,
  maxPartBytes: 5 * GIB,
  maxParts: 10_000,
  // 48.8 TB, as documented: 10,000 parts of 5 GiB.
  maxObjectBytes: 10_000 * 5 * GIB,
  maxKeyBytes: 1_023,
};

/** A region as configured, with or without the prefix that endpoints have. */
export function plainRegion(region: string): string {
  return region.replace(/^oss-/, '');
}

export function endpointOf({
  endpoint,
  region,
  internal,
}: Pick<OssStoreOptions, 'endpoint' | 'region' | 'internal'>): string {
  return endpoint ?? `https://oss-${plainRegion(region)}${internal === true ? '-internal' : ''}.aliyuncs.com`;
}
