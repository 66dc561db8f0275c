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

export interface StoreConfig {
  readonly name: string;
  readonly type: 's3' | 'memory';
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly pathStyle: boolean;
  readonly maxConnections: number;
  readonly credentials: CredentialsConfig;
  readonly encryption:
    { readonly mode: 'AES256' } | { readonly mode: 'aws:kms'; readonly kmsKeyId?: string } | undefined;
  readonly storageClass: string | undefined;
  /** Only what is set; the rest is the adapter's. Named as in `StoreCapabilities`. */
  readonly capabilities: CapabilityOverrides;
}

type CapabilityValues = SchemaValues['stores'][string]['capabilities'];

export type CapabilityOverrides = {
  readonly [K in keyof CapabilityValues]?: NonNullable<CapabilityValues[K]>;
};

export type CredentialsConfig =
  | {
      readonly kind: 'static';
      readonly accessKeyId: string;
      readonly secretAccessKey: Secret;
      readonly sessionToken: Secret | undefined;
    }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'default-chain' };

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
