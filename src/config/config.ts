import type { StoreUri } from '../core/uri.js';
import type { Secret } from './secret.js';
import type { SchemaValues } from './schema.js';

/** What the daemon runs with: every key present, every value checked. Durations in ms, sizes in bytes. */
export interface Config extends Pick<
  SchemaValues,
  | 'insecure'
  | 'log'
  | 'limits'
  | 'upload'
  | 'retry'
  | 'timeouts'
  | 'drain'
  | 'health'
  | 'reflection'
  | 'cleanup'
> {
  readonly listen: readonly ListenAddress[];
  readonly tls: TlsConfig | undefined;
  readonly auth: { readonly tokensFile: string | undefined };
  readonly admin: { readonly listen: TcpAddress | undefined };
  readonly stores: ReadonlyMap<string, StoreConfig>;
  /** Longest URI first. */
  readonly roots: readonly RootConfig[];
}

export type ListenAddress = UnixAddress | TcpAddress;

export interface UnixAddress {
  readonly kind: 'unix';
  readonly path: string;
}

export interface TcpAddress {
  readonly kind: 'tcp';
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
}

export interface TlsConfig {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string | undefined;
  readonly minVersion: '1.2' | '1.3';
}

export type StoreConfig = S3StoreConfig | OssStoreConfig;

interface CommonStoreConfig {
  readonly name: string;
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly maxConnections: number;
  readonly storageClass: string | undefined;
  /** Only what is set; the rest is the adapter's. Named as in `StoreCapabilities`. */
  readonly capabilities: CapabilityOverrides;
}

/** A store in memory looks at its buckets and capabilities only. */
export interface S3StoreConfig extends CommonStoreConfig {
  readonly type: 's3' | 'memory';
  readonly pathStyle: boolean;
  readonly credentials: CredentialsConfig;
  readonly encryption:
    { readonly mode: 'AES256' } | { readonly mode: 'aws:kms'; readonly kmsKeyId?: string } | undefined;
}

export interface OssStoreConfig extends CommonStoreConfig {
  readonly type: 'oss';
  readonly internal: boolean;
  readonly addressing: 'virtual-host' | 'path' | 'cname';
  readonly signature: 'v1' | 'v4';
  readonly credentials: OssCredentialsConfig;
  readonly encryption:
    { readonly mode: 'AES256' } | { readonly mode: 'KMS'; readonly kmsKeyId?: string } | undefined;
}

type CapabilityValues = SchemaValues['stores'][string]['capabilities'];

export type CapabilityOverrides = {
  readonly [K in keyof CapabilityValues]?: NonNullable<CapabilityValues[K]>;
};

export interface AccessKeyConfig {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly sessionToken: Secret | undefined;
}

export type CredentialsConfig =
  | ({ readonly kind: 'static' } & AccessKeyConfig)
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'default-chain' };

/** What the environment has is `static` by now. */
export type OssCredentialsConfig =
  | ({ readonly kind: 'static' } & AccessKeyConfig)
  | { readonly kind: 'file'; readonly path: string }
  | {
      readonly kind: 'sts';
      readonly roleArn: string;
      readonly sessionName: string;
      readonly durationMs: number;
      readonly endpoint: string | undefined;
      readonly source: AccessKeyConfig;
    };

export interface RootConfig {
  /** Position in the configuration: `roots[N]` in messages. */
  readonly index: number;
  /** As written. */
  readonly uri: string;
  readonly location: StoreUri;
  /** Name of a store. */
  readonly store: string;
  /** On the same store; its key is never empty. */
  readonly staging: StoreUri;
  /** None named: everybody. */
  readonly principals: readonly string[];
  /** Its own, or `cleanup.listing`. */
  readonly listing: 'never' | 'exclusive';
}

/** One sentence for each thing that is wrong, all at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}
