import { isCommitterError } from '../core/errors.js';
import { formatUri, isWithin, parseUri, type StoreUri } from '../core/uri.js';
import { formatListen, isLoopback, parseListen, parseTcp } from './addresses.js';
import type { Config, ListenAddress, RootConfig, StoreConfig, TcpAddress, TlsConfig } from './config.js';
import type { SchemaValues } from './schema.js';
import { storeOf } from './stores.js';

const defaultStagingKey = '.commitbridge/jobs';

/** The rules that look at more than one key. `values` has parsed without problems. */
export function validate(
  values: SchemaValues,
  problems: string[],
  env: Readonly<Record<string, string | undefined>>,
): Config {
  const tls = tlsOf(values, problems);
  const stores = new Map(
    Object.entries(values.stores).map(
      ([name, store]) => [name, storeOf(name, store, env, problems)] as const,
    ),
  );
  if (stores.size === 0) problems.push('stores is empty: name at least one object store.');
  return {
    insecure: values.insecure,
    log: values.log,
    limits: values.limits,
    upload: values.upload,
    retry: values.retry,
    timeouts: values.timeouts,
    drain: values.drain,
    health: values.health,
    reflection: values.reflection,
    cleanup: values.cleanup,
    listen: listenOf(values, tls !== undefined, problems),
    tls,
    auth: values.auth,
    admin: { listen: adminOf(values, problems) },
    stores,
    roots: rootsOf(values, stores, problems),
  };
}

function listenOf(values: SchemaValues, hasTls: boolean, problems: string[]): ListenAddress[] {
  if (values.listen.length === 0) problems.push('listen is empty: the daemon needs at least one address.');
  const addresses: ListenAddress[] = [];
  const seen = new Set<string>();
  for (const [i, text] of values.listen.entries()) {
    const address = parseListen(text);
    if (typeof address === 'string') {
      problems.push(`listen[${i}] ${address}, not "${text}".`);
      continue;
    }
    if (address.kind === 'tcp' && !isLoopback(address) && !hasTls && !values.insecure) {
      problems.push(
        `listen[${i}] ("${text}") can be reached by other machines without encryption: set tls.cert and tls.key, ` +
          'or listen on 127.0.0.1 or a unix socket, or set insecure: true (--insecure) if the network is trusted.',
      );
    }
    if (seen.has(formatListen(address)) && !(address.kind === 'tcp' && address.port === 0)) {
      problems.push(`listen[${i}] ("${text}") is there twice.`);
    }
    seen.add(formatListen(address));
    addresses.push(address);
  }
  return addresses;
}

function tlsOf(values: SchemaValues, problems: string[]): TlsConfig | undefined {
  const { cert, key, clientCa, minVersion } = values.tls;
  if (cert !== undefined && key !== undefined) return { cert, key, clientCa, minVersion };
  if (cert !== undefined) problems.push('tls.cert is set without tls.key.');
  if (key !== undefined) problems.push('tls.key is set without tls.cert.');
  if (cert === undefined && key === undefined && clientCa !== undefined) {
    problems.push('tls.clientCa is set without tls.cert and tls.key: client certificates need TLS.');
  }
  return undefined;
}

function adminOf(values: SchemaValues, problems: string[]): TcpAddress | undefined {
  if (values.admin.listen === undefined) return undefined;
  const address = parseTcp(values.admin.listen);
  if (typeof address !== 'string') return address;
  problems.push(`admin.listen must be host:port, as 127.0.0.1:7421, not "${values.admin.listen}".`);
  return undefined;
}

function rootsOf(
  values: SchemaValues,
  stores: ReadonlyMap<string, StoreConfig>,
  problems: string[],
): readonly RootConfig[] {
  if (values.roots.length === 0) {
    problems.push('roots is empty: name at least one URI that jobs may write below.');
  }
  const roots: RootConfig[] = [];
  for (const [index, root] of values.roots.entries()) {
    const path = `roots[${index}]`;
    const store = stores.get(root.store);
    if (store === undefined) {
      const known = [...stores.keys()].join(', ');
      problems.push(`${path}.store is "${root.store}", which is no entry of stores (${known}).`);
    }
    const location = uriOf(root.uri, `${path}.uri`, store, problems);
    if (location === undefined) continue;
    const staging =
      root.staging === undefined
        ? { ...location, key: defaultStagingKey }
        : uriOf(root.staging, `${path}.staging`, store, problems);
    if (staging === undefined) continue;
    const twin = roots.find((other) => formatUri(other.location) === formatUri(location));
    if (twin !== undefined)
      problems.push(`${path}.uri ("${root.uri}") is that of roots[${twin.index}] again.`);
    const { principals, listing = values.cleanup.listing } = root;
    roots.push({ index, uri: root.uri, location, store: root.store, staging, principals, listing });
  }
  refuseRootsInStaging(roots, problems);
  refuseOtherBuckets(roots, stores, problems);
  return roots.sort((a, b) => b.location.key.length - a.location.key.length || a.index - b.index);
}

function uriOf(
  text: string,
  field: string,
  store: StoreConfig | undefined,
  problems: string[],
): StoreUri | undefined {
  try {
    const uri = parseUri(text, field);
    if (store === undefined || store.type === 'memory' || uri.scheme === store.type) return uri;
    const schemes = store.type === 's3' ? 's3, s3a or s3n' : 'oss';
    problems.push(
      `${field} ("${text}") must have the scheme ${schemes}: stores.${store.name} is of type ${store.type}.`,
    );
  } catch (error) {
    if (!isCommitterError(error)) throw error;
    problems.push(`${error.message}.`);
  }
  return undefined;
}

function refuseRootsInStaging(roots: readonly RootConfig[], problems: string[]): void {
  for (const { index, staging } of roots) {
    if (staging.key === '') {
      problems.push(
        `roots[${index}].staging must be a prefix of its own, not the whole bucket ${staging.bucket}.`,
      );
      continue;
    }
    const inside = roots.find((other) => isWithin(staging, other.location));
    if (inside !== undefined) {
      problems.push(
        `roots[${inside.index}].uri ("${inside.uri}") lies inside roots[${index}].staging ` +
          `("${formatUri(staging)}"): jobs would write into the state of jobs.`,
      );
    }
  }
}

/** A domain is bound to one bucket, whatever bucket a request means. */
function refuseOtherBuckets(
  roots: readonly RootConfig[],
  stores: ReadonlyMap<string, StoreConfig>,
  problems: string[],
): void {
  for (const store of stores.values()) {
    if (store.type !== 'oss' || store.addressing !== 'cname') continue;
    const own = roots.filter((root) => root.store === store.name);
    const buckets = new Set(own.flatMap(({ location, staging }) => [location.bucket, staging.bucket]));
    if (buckets.size < 2) continue;
    problems.push(
      `stores.${store.name}.cname is true, and a domain is bound to one bucket; its roots and their staging name ` +
        `${[...buckets].sort().join(', ')}: give each bucket a store of its own.`,
    );
  }
}
