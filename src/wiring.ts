import { decorate } from './adapters/decorators/decorate.js';
import type { OssCredentialsOptions } from './adapters/oss/oss-options.js';
import { SystemClock } from './adapters/system/clock.js';
import { SystemRandom } from './adapters/system/random.js';
import { CommitterApp } from './app/app.js';
import { collectGarbage } from './app/gc.js';
import type { Root } from './app/roots.js';
import { abortOpenUploads, listOpenUploads } from './app/uploads.js';
import type { App, BuildApp, CleanupAdmin, JobsAdmin, JobView } from './cli/app.js';
import type {
  AccessKeyConfig,
  Config,
  CredentialsConfig,
  OssCredentialsConfig,
  OssStoreConfig,
  S3StoreConfig,
  StoreConfig,
} from './config/config.js';
import { CommitterError } from './core/errors.js';
import type { Clock, Random } from './ports/clock.js';
import type { Logger } from './ports/logger.js';
import type { Metrics } from './ports/metrics.js';
import type { ObjectStore } from './ports/object-store.js';
import { createServices } from './rpc/services.js';
import { statusOf } from './rpc/status.js';
import type { S3Credentials } from './adapters/s3/s3-options.js';
import { version } from './version.js';

/** An open upload is in the ledger within a second: half of it until it is due, half until the next flush. */
const ledgerIntervalMs = 500;

const maxInlineBytesPerAttempt = 1024 * 1024;

/** Some 35,000 files: larger jobs cost one more GET a record, and no more memory. */
const heldBytes = 32 * 1024 * 1024;

/** What the timeouts of store requests keep to, but for Completes, which are one-shot. */
const requestBoundMs = 45_000;

/** The composition root: from a configuration to components. No other file knows every adapter. */
export const buildApp: BuildApp = async ({ config, logger, metrics }): Promise<App> => {
  const clock = new SystemClock();
  const random = new SystemRandom();
  const stores = new Map<string, ObjectStore>();
  for (const [name, store] of config.stores) {
    stores.set(name, await buildStore(store, config, { clock, random, logger, metrics }));
  }
  const committer = new CommitterApp({
    roots: buildRoots(config, stores),
    clock,
    random,
    logger,
    metrics,
    options: {
      version,
      completeConcurrency: config.limits.completeConcurrency,
      recordConcurrency: config.limits.recordConcurrency,
      signedUrlSeconds: Math.floor(config.upload.urlTtlMs / 1_000),
      firstPartBytes: config.upload.partSizeBytes,
      maxInlineBytes: config.upload.inlineLimitBytes,
      maxInlineBytesPerAttempt,
      requestBoundMs,
      patienceMs: config.retry.patienceMs,
      heldBytes,
      cleanup: config.cleanup.enabled,
      ledgerIntervalMs,
      maxMessageBytes: config.limits.maxMessageBytes,
    },
  });
  return {
    services: createServices(committer.context),
    jobs: jobsAdmin(committer),
    cleanup: cleanupAdmin(committer, config),
    stores,
    clock,
    random,
    statusOf,
    async close() {
      await committer.close();
      await Promise.all([...stores.values()].map((store) => store.close()));
    },
  };
};

interface StoreDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

async function buildStore(store: StoreConfig, config: Config, deps: StoreDeps): Promise<ObjectStore> {
  return decorate(await buildAdapter(store, config, deps.clock), {
    ...deps,
    name: store.name,
    retry: config.retry,
    limit: { requests: store.maxConnections, transfers: store.maxConnections },
    timeout: config.timeouts,
  });
}

/** An adapter is loaded where a store asks for it: its client library costs memory and start-up time. */
async function buildAdapter(store: StoreConfig, config: Config, clock: Clock): Promise<ObjectStore> {
  switch (store.type) {
    case 's3':
      return buildS3(store, clock);
    case 'oss':
      return buildOss(store, config, clock);
    case 'memory':
      return buildMemory(store, config);
  }
}

async function buildS3(store: S3StoreConfig, clock: Clock): Promise<ObjectStore> {
  const { S3ObjectStore } = await import('./adapters/s3/s3-object-store.js');
  const options = {
    region: store.region,
    pathStyle: store.pathStyle,
    credentials: s3Credentials(store.credentials),
    maxSockets: store.maxConnections,
    capabilities: store.capabilities,
    ...(store.endpoint === undefined ? {} : { endpoint: store.endpoint }),
    ...(store.encryption === undefined ? {} : { sse: store.encryption }),
    ...(store.storageClass === undefined ? {} : { storageClass: store.storageClass }),
  };
  return new S3ObjectStore(options, clock);
}

function s3Credentials(credentials: CredentialsConfig): S3Credentials {
  if (credentials.kind !== 'static') return credentials;
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  return {
    kind: 'static',
    accessKeyId,
    secretAccessKey: secretAccessKey.reveal(),
    ...(sessionToken === undefined ? {} : { sessionToken: sessionToken.reveal() }),
  };
}

async function buildOss(store: OssStoreConfig, config: Config, clock: Clock): Promise<ObjectStore> {
  const { OssObjectStore } = await import('./adapters/oss/oss-object-store.js');
  const { region, internal, addressing, signature, capabilities } = store;
  const options = {
    ...{ region, internal, addressing, signature, capabilities },
    credentials: ossCredentials(store.credentials),
    maxSockets: store.maxConnections,
    connectTimeoutMs: config.timeouts.connectMs,
    ...(store.endpoint === undefined ? {} : { endpoint: store.endpoint }),
    ...(store.encryption === undefined ? {} : { encryption: store.encryption }),
    ...(store.storageClass === undefined ? {} : { storageClass: store.storageClass }),
  };
  return new OssObjectStore(options, clock);
}

function ossCredentials(credentials: OssCredentialsConfig): OssCredentialsOptions {
  switch (credentials.kind) {
    case 'file':
      return credentials;
    case 'static':
      return { kind: 'static', ...ossKey(credentials) };
    case 'sts': {
      const { roleArn, sessionName, durationMs, endpoint, source } = credentials;
      return {
        ...{ kind: 'sts', roleArn, sessionName, durationSeconds: Math.floor(durationMs / 1_000) },
        source: { accessKeyId: source.accessKeyId, accessKeySecret: source.secretAccessKey.reveal() },
        ...(endpoint === undefined ? {} : { endpoint }),
      };
    }
  }
}

function ossKey({ accessKeyId, secretAccessKey, sessionToken }: AccessKeyConfig): {
  accessKeyId: string;
  accessKeySecret: string;
  securityToken?: string;
} {
  return {
    accessKeyId,
    accessKeySecret: secretAccessKey.reveal(),
    ...(sessionToken === undefined ? {} : { securityToken: sessionToken.reveal() }),
  };
}

/** Buckets of a memory store are those that the roots name. */
async function buildMemory(store: S3StoreConfig, config: Config): Promise<ObjectStore> {
  const { MemoryObjectStore } = await import('./adapters/memory/memory-object-store.js');
  const roots = config.roots.filter((root) => root.store === store.name);
  const buckets = [...new Set(roots.flatMap((root) => [root.location.bucket, root.staging.bucket]))];
  return new MemoryObjectStore({ buckets, capabilities: store.capabilities });
}

function buildRoots(config: Config, stores: ReadonlyMap<string, ObjectStore>): Root[] {
  return config.roots.map((root) => {
    const store = stores.get(root.store);
    if (store === undefined) throw new Error(`roots[${root.index}].store: there is no store ${root.store}`);
    return {
      uri: root.location,
      storeName: root.store,
      store,
      staging: { bucket: root.staging.bucket, key: root.staging.key },
      principals: root.principals,
      listing: root.listing,
    };
  });
}

function jobsAdmin({ admin }: CommitterApp): JobsAdmin {
  const show = async (token: string): Promise<JobView> => ({ ...(await admin.show(token)) });
  return {
    async list() {
      return (await admin.list()).map((summary) => ({ ...summary }));
    },
    async show(token) {
      try {
        return await show(token);
      } catch (error) {
        if (error instanceof CommitterError && error.reason === 'JOB_NOT_FOUND') return undefined;
        throw error;
      }
    },
    async commit(token) {
      await admin.commit(token);
      return show(token);
    },
    async abort(token, { force }) {
      const { keys, unreadable } = await admin.abort(token, 'aborted by hand', force);
      return {
        ...(await show(token)),
        ...(keys.length === 0 ? {} : { keys }),
        ...(unreadable.length === 0 ? {} : { unreadable }),
      };
    },
  };
}

function cleanupAdmin({ context }: CommitterApp, config: Config): CleanupAdmin {
  return {
    gc: (options) => collectGarbage(context, { ...options, ttlMs: config.cleanup.ttlMs }),
    listUploads: (query) => listOpenUploads(context, query),
    abortUploads: (query, dryRun) => abortOpenUploads(context, query, dryRun),
  };
}
