import type { StoreCapabilities } from '../../ports/object-store.js';

export interface S3StoreOptions {
  /** `https://host[:port]`; AWS's own for the region where it is missing. */
  readonly endpoint?: string;
  readonly region: string;
  /** `endpoint/bucket/key` and not `bucket.endpoint/key`; most servers other than AWS need it. */
  readonly pathStyle?: boolean;
  readonly credentials: S3Credentials;
  /** Connections to the store at most; requests beyond wait for one. */
  readonly maxSockets?: number;
  /** For opening a connection; the time of a whole request is the decorator's. */
  readonly connectTimeoutMs?: number;
  readonly sse?: S3Encryption;
  readonly storageClass?: string;
  /** What this server does otherwise than AWS. */
  readonly capabilities?: Partial<StoreCapabilities>;
}

export type S3Credentials =
  | {
      readonly kind: 'static';
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
      readonly sessionToken?: string;
    }
  /** The SDK's own chain: environment, shared files, web identity, container, instance. */
  | { readonly kind: 'default-chain' }
  /** A file that somebody rotates; see `file-credentials.ts` for its form. */
  | { readonly kind: 'file'; readonly path: string };

/** Encryption by the store with its own keys. Keys that the client holds (SSE-C) aren't supported. */
export type S3Encryption =
  { readonly mode: 'AES256' } | { readonly mode: 'aws:kms'; readonly kmsKeyId?: string };

const MIB = 1024 * 1024;

/** AWS S3. Other servers are described by {@link S3StoreOptions.capabilities}. */
export const S3_CAPABILITIES: StoreCapabilities = {
  conditionalPut: true,
  conditionalOverwrite: true,
  conditionalComplete: true,
  dearConditionalComplete: false,
  conditionalDelete: true,
  listUploadsByPrefix: true,
  presign: true,
  idempotentComplete: true,
  equalParts: false,
  emptyParts: true,
  minPartBytes: 5 * MIB,
  maxPartBytes: 5 * 1024 * MIB,
  maxParts: 10_000,
  maxObjectBytes: 5 * 1024 * 1024 * MIB,
  maxKeyBytes: 1_024,
};
