import {
  experimental,
  Server,
  ServerCredentials,
  setLogger,
  type ServerInterceptor,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation } from 'grpc-health-check';
import { formatListen, isLoopback } from '../../config/addresses.js';
import type { Config, ListenAddress, TcpAddress, TlsConfig } from '../../config/config.js';
import type { CommitterError } from '../../core/errors.js';
import type { Clock, Random } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';
import type { Metrics } from '../../ports/metrics.js';
import { anonymousPrincipal, type AuthPolicy, localPrincipal } from './authenticator.js';
import { CallTracker } from './call-tracker.js';
import { callInterceptor, type RefusalStatus } from './interceptor.js';
import { TlsCredentials } from './tls-credentials.js';
import { TokenFile } from './token-file.js';
import { bindSocket, makeWayForSocket } from './unix-socket.js';

export interface GrpcService {
  /** Full name, as `commitbridge.v1.JobService`. */
  readonly name: string;
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

export interface ServerDeps {
  readonly config: Pick<Config, 'listen' | 'tls' | 'auth' | 'limits' | 'drain' | 'reflection'>;
  readonly services: readonly GrpcService[];
  /** For reflection. */
  readonly packageDefinition: PackageDefinition;
  readonly statusOf: (error: CommitterError) => RefusalStatus;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
}

export interface RunningServer {
  /** As bound: with real ports. */
  readonly addresses: readonly string[];
  /** False from the beginning of a drain. */
  readonly isServing: boolean;
  /**
   * Says NOT_SERVING, waits `drain.notice`, refuses new calls, waits `drain.grace` for running ones, closes. The
   * signal cuts all waits short.
   */
  drain(hurry?: AbortSignal): Promise<void>;
  /** Closes at once; running calls fail. */
  close(): void;
}

/** Replies of the last calls leave in this time. */
const flushMs = 1_000;
const keepaliveMs = 60_000;
const keepaliveTimeoutMs = 20_000;

/** Binds all addresses or none. Throws a sentence that names the address. */
export async function startServer(deps: ServerDeps): Promise<RunningServer> {
  const { config, logger } = deps;
  sendGrpcLogsTo(logger);
  const tracker = new CallTracker();
  let isServing = true;
  let isDraining = false;
  const interceptorFor = (policy: AuthPolicy) =>
    callInterceptor(policy, { ...deps, tracker, isDraining: () => isDraining });

  const tokens = openTokens(config.auth.tokensFile, logger);
  const tls: TlsCredentials[] = [];
  const server = new Server({
    'grpc.max_receive_message_length': config.limits.maxMessageBytes,
    'grpc.max_send_message_length': config.limits.maxMessageBytes,
    'grpc.max_connection_idle_ms': config.limits.connectionIdleMs,
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
    // Statistics of calls for a service that isn't offered.
    'grpc.enable_channelz': 0,
    // In megabytes; the default of 10 stalls clients with many calls at a time.
    'grpc-node.max_session_memory': Math.ceil(config.limits.sessionMemoryBytes / 1024 ** 2),
  });
  const health = addServices(server, deps);

  const closeFiles = (): void => {
    tokens?.close();
    for (const credentials of tls) credentials.close();
  };
  const addresses: string[] = [];
  try {
    for (const address of config.listen) {
      const interceptor = interceptorFor(policyFor(address, config, tokens));
      let credentials: ServerCredentials;
      if (address.kind === 'tcp' && config.tls !== undefined) {
        const secure = openTls(config.tls, interceptor, logger);
        tls.push(secure);
        credentials = secure;
      } else {
        const insecure = ServerCredentials.createInsecure();
        credentials = experimental.createServerCredentialsWithInterceptors(insecure, [interceptor]);
      }
      addresses.push(await bind(server, address, credentials));
    }
  } catch (error) {
    closeFiles();
    server.forceShutdown();
    throw error;
  }
  logger.info('listening', { addresses });

  return {
    addresses,
    get isServing() {
      return isServing;
    },
    async drain(hurry) {
      isServing = false;
      for (const name of healthNames(deps.services)) health.setStatus(name, 'NOT_SERVING');
      logger.info('drain begun', { running_calls: tracker.count });
      const over = new AbortController();
      const signal = hurry === undefined ? over.signal : AbortSignal.any([hurry, over.signal]);
      await sleepUnless(deps.clock, config.drain.noticeMs, signal);
      isDraining = true;
      await Promise.race([tracker.idle(), sleepUnless(deps.clock, config.drain.graceMs, signal)]);
      const cut = tracker.count;
      if (cut === 0) await Promise.race([tryShutdown(server), sleepUnless(deps.clock, flushMs, signal)]);
      over.abort();
      server.forceShutdown();
      closeFiles();
      if (cut > 0) logger.warn('drain ended before its calls', { cut_calls: cut });
      else logger.info('drain ended');
    },
    close() {
      isServing = false;
      isDraining = true;
      server.forceShutdown();
      closeFiles();
    },
  };
}

function healthNames(services: readonly GrpcService[]): string[] {
  return ['', ...services.map((service) => service.name)];
}

function addServices(server: Server, deps: ServerDeps): HealthImplementation {
  for (const service of deps.services) server.addService(service.definition, service.implementation);
  const health = new HealthImplementation();
  for (const name of healthNames(deps.services)) health.setStatus(name, 'SERVING');
  health.addToServer(server);
  if (deps.config.reflection) new ReflectionService(deps.packageDefinition).addToServer(server);
  return health;
}

function openTokens(path: string | undefined, logger: Logger): TokenFile | undefined {
  if (path === undefined) return undefined;
  try {
    return new TokenFile(path, logger);
  } catch (error) {
    throw new Error(`auth.tokensFile can't be used: ${messageOf(error)}`, { cause: error });
  }
}

function openTls(config: TlsConfig, interceptor: ServerInterceptor, logger: Logger): TlsCredentials {
  try {
    return new TlsCredentials(config, [interceptor], logger);
  } catch (error) {
    throw new Error(`tls.cert, tls.key or tls.clientCa can't be used: ${messageOf(error)}`, { cause: error });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function policyFor(
  address: ListenAddress,
  config: ServerDeps['config'],
  tokens: TokenFile | undefined,
): AuthPolicy {
  if (address.kind === 'unix') return { fallback: localPrincipal, tokens, hasClientCertificates: false };
  const hasClientCertificates = config.tls?.clientCa !== undefined;
  const open = isLoopback(address) ? localPrincipal : anonymousPrincipal;
  const isAuthenticated = tokens !== undefined || hasClientCertificates;
  return { fallback: isAuthenticated ? undefined : open, tokens, hasClientCertificates };
}

async function bind(server: Server, address: ListenAddress, credentials: ServerCredentials): Promise<string> {
  const target = formatListen(address);
  try {
    if (address.kind === 'unix') {
      await makeWayForSocket(address.path);
      await bindSocket(address.path, () => bindAsync(server, target, credentials));
      return target;
    }
    const port = await bindAsync(server, target, credentials);
    return formatListen({ ...address, port } satisfies TcpAddress);
  } catch (error) {
    throw new Error(`can't listen on ${target}: ${bindProblem(error)}`, { cause: error });
  }
}

/** grpc-js gathers the reasons of all addresses that a name has; a socket's own sentences stay. */
function bindProblem(error: unknown): string {
  const message = messageOf(error);
  const code = /\b(EADDRINUSE|EACCES|EADDRNOTAVAIL|ENOTFOUND)\b/.exec(message)?.[1];
  switch (code) {
    case 'EADDRINUSE':
      return `another process is listening there (${code}): stop it, or change listen`;
    case 'EACCES':
      return `this user may not (${code}): take a port above 1023, or change listen`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `this machine has no such address (${code}): change listen`;
    default:
      return message;
  }
}

/** grpc-js writes plain lines to stderr otherwise. What matters in them comes back as an error too. */
function sendGrpcLogsTo(logger: Logger): void {
  const log = (text?: unknown): void => {
    logger.debug('grpc-js says', { text: String(text) });
  };
  setLogger({ error: log, info: log, debug: log });
}

async function bindAsync(server: Server, target: string, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(target, credentials, (error, port) => {
      if (error === null) resolve(port);
      else reject(error);
    });
  });
}

/** Resolves when all connections are closed: clients close theirs when they're told to and their calls are over. */
async function tryShutdown(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.tryShutdown(() => {
      resolve();
    });
  });
}

async function sleepUnless(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
