import { isIP } from 'node:net';
import type { CapabilityOverrides, OssStoreConfig, S3StoreConfig, StoreConfig } from './config.js';
import { credentialsOf, ossCredentialsOf, type Environment } from './credentials.js';
import type { SchemaValues } from './schema.js';

export type StoreValues = SchemaValues['stores'][string];

const defaultRegion = 'us-east-1';
/** Of a store that isn't one of OSS. */
const ossKeys = ['internal', 'cname', 'signature'] as const;

/** The rules about the keys of one store. */
export function storeOf(name: string, store: StoreValues, env: Environment, problems: string[]): StoreConfig {
  const path = `stores.${name}`;
  if (store.endpoint !== undefined && !isHttpUrl(store.endpoint)) {
    problems.push(
      store.endpoint.includes('@')
        ? `${path}.endpoint must be an http or https URL without user name and password, which go to ${path}.credentials.`
        : `${path}.endpoint must be an http or https URL without a path, not "${store.endpoint}".`,
    );
  }
  return store.type === 'oss'
    ? ossStoreOf(name, store, env, problems)
    : s3StoreOf(name, store, store.type, problems);
}

function commonOf(
  name: string,
  store: StoreValues,
): Omit<S3StoreConfig, 'type' | 'pathStyle' | 'credentials' | 'encryption'> {
  return {
    name,
    endpoint: store.endpoint,
    region: store.region ?? defaultRegion,
    maxConnections: store.maxConnections,
    storageClass: store.storageClass,
    capabilities: withoutUndefined(store.capabilities),
  };
}

function s3StoreOf(
  name: string,
  store: StoreValues,
  type: S3StoreConfig['type'],
  problems: string[],
): S3StoreConfig {
  const path = `stores.${name}`;
  for (const key of ossKeys) {
    if (store[key] !== undefined) problems.push(`${path}.${key} is for stores of type oss.`);
  }
  if (store.credentials.sts.roleArn !== undefined)
    problems.push(`${path}.credentials.sts is for stores of type oss.`);
  return {
    ...commonOf(name, store),
    type,
    pathStyle: store.pathStyle ?? store.endpoint !== undefined,
    credentials: credentialsOf(`${path}.credentials`, store.credentials, problems),
    encryption: encryptionOf(`${path}.encryption`, store.encryption, 'aws:kms', problems),
  };
}

function ossStoreOf(name: string, store: StoreValues, env: Environment, problems: string[]): OssStoreConfig {
  const path = `stores.${name}`;
  if (store.region === undefined) problems.push(`${path}.region is missing: OSS needs it, as cn-hangzhou.`);
  const { cname = false, pathStyle = false, internal = false } = store;
  if (cname && pathStyle) problems.push(`${path}.cname excludes ${path}.pathStyle.`);
  if (cname && store.endpoint === undefined)
    problems.push(`${path}.cname needs ${path}.endpoint, the domain that is bound to the bucket.`);
  if (internal && store.endpoint !== undefined)
    problems.push(`${path}.internal chooses the endpoint, and ${path}.endpoint is set: remove one.`);
  const version = store.endpoint === undefined ? 0 : addressVersion(store.endpoint);
  if (version === 6) {
    problems.push(
      `${path}.endpoint is an IPv6 address, which ali-oss takes for no endpoint ("${store.endpoint}"): name a host.`,
    );
  } else if (version === 4 && !pathStyle && !cname) {
    problems.push(
      `${path}.endpoint is an IP address, before which no bucket can stand ("${store.endpoint}"): name a host, or ` +
        `set ${path}.pathStyle to true.`,
    );
  }
  return {
    ...commonOf(name, store),
    type: 'oss',
    internal,
    addressing: cname ? 'cname' : pathStyle ? 'path' : 'virtual-host',
    signature: store.signature ?? 'v4',
    credentials: ossCredentialsOf(`${path}.credentials`, store.credentials, env, problems),
    encryption: encryptionOf(`${path}.encryption`, store.encryption, 'KMS', problems),
  };
}

/** `kms` is what this kind of store calls encryption with a key of its key management. */
function encryptionOf<K extends 'aws:kms' | 'KMS'>(
  path: string,
  { mode, kmsKeyId }: StoreValues['encryption'],
  kms: K,
  problems: string[],
): { readonly mode: 'AES256' } | { readonly mode: K; readonly kmsKeyId?: string } | undefined {
  if (kmsKeyId !== undefined && mode !== kms) problems.push(`${path}.kmsKeyId needs ${path}.mode ${kms}.`);
  if (mode === undefined) return undefined;
  if (mode === 'AES256') return { mode };
  if (mode !== kms) problems.push(`${path}.mode ${mode} is of another kind of store: use ${kms}.`);
  return kmsKeyId === undefined ? { mode: kms } : { mode: kms, kmsKeyId };
}

/** Spread over an adapter's capabilities, a key that holds `undefined` would hide one of them. */
function withoutUndefined(values: StoreValues['capabilities']): CapabilityOverrides {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const hasOnlyHost = url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  return (url.protocol === 'http:' || url.protocol === 'https:') && hasOnlyHost;
}

/** 4 or 6 of an IP address; 0 of a name. */
function addressVersion(endpoint: string): number {
  return URL.canParse(endpoint) ? isIP(new URL(endpoint).hostname.replace(/^\[|\]$/g, '')) : 0;
}
