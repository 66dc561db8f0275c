import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RetryingStore } from '../../../src/adapters/decorators/retrying-store.js';
import { MemoryObjectStore } from '../../../src/adapters/memory/memory-object-store.js';
import { SystemClock } from '../../../src/adapters/system/clock.js';
import { SystemRandom } from '../../../src/adapters/system/random.js';
import { CommitterApp } from '../../../src/app/app.js';
import type { Root } from '../../../src/app/roots.js';
import { parseListen } from '../../../src/config/addresses.js';
import { parseUri } from '../../../src/core/uri.js';
import type { LogFields, Logger } from '../../../src/ports/logger.js';
import type { Metrics } from '../../../src/ports/metrics.js';
import type { ObjectStore, StoreCapabilities } from '../../../src/ports/object-store.js';
import { packageDefinition } from '../../../src/rpc/proto.js';
import { startServer } from '../../../src/rpc/server/server.js';
import { createServices } from '../../../src/rpc/services.js';
import { statusOf } from '../../../src/rpc/status.js';
import { DaemonClient } from './client.js';
import { FaultyStore } from './faulty-store.js';
import { newOssMemory, stopDoubles, type OssMemoryOptions } from './oss-memory.js';

export const bucket = 'lake';
export const staging = '.commitbridge/jobs';

/** Parts of a few bytes instead of megabytes, so that tests need no large files. */
export const smallParts = { minPartBytes: 16 } as const;

export interface MemoryDaemonOptions {
  /** Several daemons may share one. */
  readonly memory?: MemoryObjectStore;
  /** Of the store that is made where none is given. */
  readonly capabilities?: Partial<StoreCapabilities>;
  /** Default: one root, the whole bucket. */
  readonly roots?: readonly {
    readonly uri: string;
    readonly principals?: readonly string[];
    readonly listing?: 'exclusive';
    /** Key of the staging root, in the same bucket. */
    readonly staging?: string;
  }[];
  /** Principal by bearer token. */
  readonly tokens?: Readonly<Record<string, string>>;
  /** Repeat store requests as the real daemon does; without it each fault reaches the engine. */
  readonly retry?: boolean;
  readonly cleanup?: boolean;
  /** Long by default, so that tests which fail the nth request are not disturbed. */
  readonly ledgerIntervalMs?: number;
  readonly completeConcurrency?: number;
  readonly maxMessageBytes?: number;
  readonly unixSocket?: boolean;
}

export interface LogEvent {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** A whole daemon in this process: server, engine, and a store in memory that can be made to fail. */
export interface MemoryDaemon {
  readonly address: string;
  readonly memory: MemoryObjectStore;
  readonly faults: FaultyStore;
  readonly app: CommitterApp;
  readonly client: DaemonClient;
  readonly logs: readonly LogEvent[];
  /** Another connection, as that principal. */
  connect(bearerToken?: string): DaemonClient;
  /** Until background cleanup is over. */
  idle(): Promise<void>;
  /** What SIGTERM begins. */
  drain(): Promise<void>;
  /** Shuts down in order; the ledger is written. */
  close(): Promise<void>;
  /** Cuts all connections; whatever runs is left to itself. */
  kill(): void;
}

const running = new Set<MemoryDaemon>();

/** For `afterEach`: closes what a test started, also where it failed. */
export async function closeAllDaemons(): Promise<void> {
  await Promise.all([...running].map((daemon) => daemon.close()));
  await stopDoubles();
}

export function isOnOss(): boolean {
  return process.env['COMMITBRIDGE_TEST_STORE'] === 'oss';
}

/** {@link isOnOss}: a double of OSS by its adapter, which looks the same to tests. */
export function newMemoryStore(
  capabilities: Partial<StoreCapabilities> = {},
  ossOptions: OssMemoryOptions = {},
): MemoryObjectStore {
  if (isOnOss()) return newOssMemory(bucket, { ...smallParts, ...capabilities }, ossOptions);
  return new MemoryObjectStore({ buckets: [bucket], capabilities: { ...smallParts, ...capabilities } });
}

export async function startMemoryDaemon(options: MemoryDaemonOptions = {}): Promise<MemoryDaemon> {
  const memory = options.memory ?? newMemoryStore(options.capabilities);
  const faults = new FaultyStore(memory);
  const clock = new SystemClock();
  const random = new SystemRandom();
  const logs: LogEvent[] = [];
  const logger = recordingLogger(logs);
  const metrics: Metrics = { count: () => undefined, observe: () => undefined, gauge: () => undefined };
  const retry = { attempts: 4, baseDelayMs: 1, maxDelayMs: 4 };
  const store =
    options.retry === true
      ? new RetryingStore(faults.store, retry, { store: 'memory', clock, random, metrics })
      : faults.store;
  const maxMessageBytes = options.maxMessageBytes ?? 16 * 1024 * 1024;
  const app = new CommitterApp({
    roots: rootsOf(options, store),
    clock,
    random,
    logger,
    metrics,
    options: {
      version: '0.0.0-test',
      completeConcurrency: options.completeConcurrency ?? 8,
      recordConcurrency: 8,
      signedUrlSeconds: 900,
      firstPartBytes: 16,
      maxInlineBytes: 16 * 1024,
      maxInlineBytesPerAttempt: 1024 * 1024,
      requestBoundMs: 50,
      heldBytes: 32 * 1024 * 1024,
      cleanup: options.cleanup ?? true,
      ledgerIntervalMs: options.ledgerIntervalMs ?? 600_000,
      maxMessageBytes,
    },
  });
  const dir = await mkdtemp(join(tmpdir(), 'commitbridge-daemon-'));
  const tokensFile = options.tokens === undefined ? undefined : join(dir, 'tokens');
  if (tokensFile !== undefined) {
    const lines = Object.entries(options.tokens ?? {}).map(([token, principal]) => `${principal} ${token}\n`);
    await writeFile(tokensFile, lines.join(''), { mode: 0o600 });
  }
  const listen = parseListen(options.unixSocket === true ? `unix://${dir}/daemon.sock` : '127.0.0.1:0');
  if (typeof listen === 'string') throw new Error(listen);
  const server = await startServer({
    config: {
      listen: [listen],
      tls: undefined,
      auth: { tokensFile },
      limits: {
        maxMessageBytes,
        completeConcurrency: 8,
        recordConcurrency: 8,
        sessionMemoryBytes: 64 * 1024 * 1024,
        connectionIdleMs: 600_000,
      },
      drain: { noticeMs: 0, graceMs: 2_000 },
      reflection: false,
    },
    services: createServices(app.context),
    packageDefinition,
    statusOf,
    logger,
    metrics,
    clock,
    random,
  });
  const address = server.addresses[0]!;
  const clients: DaemonClient[] = [];
  const connect = (bearerToken?: string): DaemonClient => {
    const client = new DaemonClient(address, bearerToken === undefined ? {} : { bearerToken });
    clients.push(client);
    return client;
  };
  const disconnect = (): void => {
    for (const client of clients) client.close();
    server.close();
  };
  let isKilled = false;
  const daemon: MemoryDaemon = {
    ...{ address, memory, faults, app, logs, connect },
    client: connect(),
    idle: () => app.context.background.idle(),
    drain: () => server.drain(),
    async close() {
      running.delete(daemon);
      disconnect();
      if (!isKilled) await app.close();
      await rm(dir, { recursive: true, force: true });
    },
    kill() {
      isKilled = true;
      disconnect();
    },
  };
  running.add(daemon);
  return daemon;
}

function rootsOf(options: MemoryDaemonOptions, store: ObjectStore): Root[] {
  return (options.roots ?? [{ uri: `s3a://${bucket}` }]).map(
    ({ uri, principals, listing, staging: stagingKey }) => {
      const location = parseUri(uri, 'uri');
      return {
        uri: location,
        storeName: 'memory',
        store,
        staging: { bucket: location.bucket, key: stagingKey ?? staging },
        principals: principals ?? [],
        ...(listing === undefined ? {} : { listing }),
      };
    },
  );
}

function recordingLogger(logs: LogEvent[], common: LogFields = {}): Logger {
  const log =
    (level: LogEvent['level']) =>
    (message: string, fields: LogFields = {}): void => {
      logs.push({ level, message, fields: { ...common, ...fields } });
    };
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (fields) => recordingLogger(logs, { ...common, ...fields }),
  };
}
