import { toCommitterError } from '../app/store-errors.js';
import { type ErrorReasonName, isCommitterError } from '../core/errors.js';
import type { Config } from '../config/config.js';
import { PrometheusMetrics } from '../observability/prometheus-metrics.js';
import { isStoreError } from '../ports/object-store.js';
import type { App } from './app.js';
import type { CommandDeps } from './command.js';
import { CommandError, type ExitCode, exitCodes } from './exit-codes.js';
import { loadCommandConfig } from './load-config.js';
import { openLogger } from './open-logger.js';
import type { ParsedCommand } from './options.js';

/** Runs a command that works on the stores without a daemon; an error of the engine ends it with its exit code. */
export async function withApp(
  parsed: ParsedCommand,
  deps: CommandDeps,
  work: (app: App, config: Config) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { config } = loadCommandConfig(parsed, deps);
  const logger = openLogger(config);
  const app = await deps.buildApp({ config, logger, metrics: new PrometheusMetrics(logger) });
  try {
    return await work(app, config);
  } catch (thrown) {
    const error = isStoreError(thrown) ? toCommitterError(thrown, 'the configured roots') : thrown;
    if (!isCommitterError(error)) throw error;
    throw new CommandError(exitCodeOf(error.reason), `${error.message} (${error.reason})`);
  } finally {
    await app.close();
    await logger.close();
  }
}

function exitCodeOf(reason: ErrorReasonName): ExitCode {
  switch (reason) {
    case 'STORE_UNAVAILABLE':
      return exitCodes.unreachable;
    case 'INVALID_FIELD':
    case 'OUTSIDE_ROOTS':
      return exitCodes.usage;
    case 'JOB_NOT_FOUND':
    case 'JOB_ABORTED':
    case 'JOB_COMMITTED':
    case 'JOB_SUPERSEDED':
    case 'OVERWROTE_OBJECTS':
    case 'UNSUPPORTED':
      return exitCodes.expectation;
    default:
      return exitCodes.failed;
  }
}
