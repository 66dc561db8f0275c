import { formatListen } from '../config/addresses.js';
import type { Config } from '../config/config.js';
import { renderEffective } from '../config/print.js';
import { type AdminServer, startAdminServer } from '../observability/admin-server.js';
import { PrometheusMetrics } from '../observability/prometheus-metrics.js';
import type { Logger } from '../ports/logger.js';
import { packageDefinition } from '../rpc/proto.js';
import { type RunningServer, startServer } from '../rpc/server/server.js';
import type { App } from './app.js';
import { explain } from './check-root.js';
import type { Command, CommandDeps } from './command.js';
import { CommandError, type ExitCode, exitCodes } from './exit-codes.js';
import { print } from './io.js';
import { loadCommandConfig } from './load-config.js';
import { openLogger } from './open-logger.js';
import { distinctStagings, refusesConditionalPut } from './staging-probe.js';
import { StoreWatch } from './store-watch.js';
import { growHeapSlowly, trimHeapSoon } from './heap.js';

/** A store that gives no definite answer in this time doesn't hold the start up. */
const probePatienceMs = 5_000;

export const serveCommand: Command = {
  name: 'serve',
  usage: '',
  summary: 'Run the daemon until SIGTERM or SIGINT; a second one ends it at once.',
  options: {
    'print-config': {
      type: 'boolean',
      doc: 'Print every value and where it comes from, with secrets masked, and exit.',
    },
  },
  takesConfig: true,
  async run(parsed, deps) {
    if (parsed.positionals.length > 0) {
      throw new CommandError(exitCodes.usage, `serve takes no argument "${parsed.positionals[0] ?? ''}".`);
    }
    const { config, effective } = loadCommandConfig(parsed, deps);
    if (parsed.values['print-config'] === true) {
      print(deps.io, renderEffective(effective));
      return exitCodes.ok;
    }
    const logger = openLogger(config);
    try {
      return await serve(config, logger, deps);
    } finally {
      await logger.close();
    }
  },
};

async function serve(config: Config, logger: Logger, deps: CommandDeps): Promise<ExitCode> {
  growHeapSlowly();
  const stop = new StopSignals(deps, logger);
  const metrics = new PrometheusMetrics(logger);
  metrics.gauge('commitbridge_build_info', 1, { version: deps.version });
  logger.info('starting', { version: deps.version, pid: process.pid });
  const app = await deps.buildApp({ config, logger, metrics });
  let server: RunningServer | undefined;
  let admin: AdminServer | undefined;
  const watching = new AbortController();
  try {
    await refuseUnfitStagings(config, app, logger);
    server = await listen(config, app, logger, metrics);
    trimHeapSoon();
    const watch = new StoreWatch({
      ...{ roots: config.roots, stores: app.stores, intervalMs: config.health.intervalMs },
      ...{ clock: app.clock, logger, metrics },
    });
    if (config.admin.listen !== undefined) {
      const running = server;
      admin = await startAdmin(config, logger, metrics, () =>
        running.isServing ? watch.problem : 'the daemon is shutting down',
      );
      void watch.run(watching.signal);
    }
    await stop.first;
    await server.drain(stop.second);
    return exitCodes.ok;
  } finally {
    watching.abort();
    server?.close();
    await admin?.close();
    await closeApp(app, config, stop.second);
    stop.forget();
    logger.info('stopped');
  }
}

/** Background work gets as long as running calls got; the state in the store is right without it. */
async function closeApp(app: App, config: Config, hurry: AbortSignal): Promise<void> {
  const over = new AbortController();
  const patience = app.clock.sleep(config.drain.graceMs, AbortSignal.any([hurry, over.signal]));
  await Promise.race([app.close(), patience.catch(() => undefined)]);
  over.abort();
}

async function listen(
  config: Config,
  app: App,
  logger: Logger,
  metrics: PrometheusMetrics,
): Promise<RunningServer> {
  if (config.insecure) logger.warn('insecure is set: calls on other networks are not encrypted');
  try {
    return await startServer({
      ...{ config, logger, metrics, packageDefinition },
      ...{ services: app.services, statusOf: app.statusOf, clock: app.clock, random: app.random },
    });
  } catch (error) {
    throw new CommandError(exitCodes.usage, error instanceof Error ? error.message : String(error));
  }
}

async function startAdmin(
  config: Config,
  logger: Logger,
  metrics: PrometheusMetrics,
  notReady: () => string | undefined,
): Promise<AdminServer | undefined> {
  const address = config.admin.listen;
  if (address === undefined) return undefined;
  try {
    const admin = await startAdminServer({ ...address, logger, metrics, notReady });
    logger.info('admin listening', { address: formatListen({ ...address, port: admin.port }) });
    return admin;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      exitCodes.usage,
      `admin.listen: can't listen on ${formatListen(address)}: ${reason}`,
    );
  }
}

/** Only a definite answer of the store keeps the daemon from starting: a store may be down for a moment. */
async function refuseUnfitStagings(config: Config, app: App, logger: Logger): Promise<void> {
  const signal = AbortSignal.timeout(probePatienceMs);
  const refusals = await Promise.all(
    distinctStagings(config.roots).map(async (root) => {
      const store = app.stores.get(root.store);
      if (store === undefined) return undefined;
      try {
        return await refusesConditionalPut(root, store, app.random, signal);
      } catch (error) {
        const why = explain(error, root).message;
        logger.warn('staging root not checked', { root: root.uri, store: root.store, why });
        return undefined;
      }
    }),
  );
  const sentences = refusals.filter((refusal) => refusal !== undefined);
  if (sentences.length > 0) throw new CommandError(exitCodes.usage, sentences.join('\n'));
}

/** The first signal asks for a drain, the second ends its waits. */
class StopSignals {
  readonly first: Promise<void>;
  readonly forget: () => void;
  private readonly hurry = new AbortController();

  constructor(deps: CommandDeps, logger: Logger) {
    let begin: () => void = () => undefined;
    this.first = new Promise((resolve) => {
      begin = resolve;
    });
    let count = 0;
    this.forget = deps.onStopSignal((signal) => {
      count++;
      logger.info('signal', { signal, count });
      if (count === 1) begin();
      else this.hurry.abort();
    });
  }

  get second(): AbortSignal {
    return this.hurry.signal;
  }
}
