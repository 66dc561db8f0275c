import { PrometheusMetrics } from '../observability/prometheus-metrics.js';
import { checkDaemon } from './check-daemon.js';
import { checkRoot, type Finding } from './check-root.js';
import type { Command, CommandDeps } from './command.js';
import { CommandError, type ExitCode, exitCodes } from './exit-codes.js';
import { type CliIo, print, printJson } from './io.js';
import { loadCommandConfig } from './load-config.js';
import { openLogger } from './open-logger.js';
import type { ParsedCommand } from './options.js';

export const checkCommand: Command = {
  name: 'check',
  usage: '',
  summary:
    'Try the configuration out: credentials, and for each root what the protocol needs of its store. Probes write ' +
    'objects and uploads named .commitbridge-check-… and remove them.',
  options: {
    json: { type: 'boolean', doc: 'Print one JSON object a line.' },
    endpoint: {
      type: 'string',
      placeholder: 'ADDRESS',
      doc: 'Only ask the running daemon at unix:///path or host:port (plain text) for its health.',
    },
  },
  takesConfig: true,
  async run(parsed, deps) {
    const isJson = parsed.values['json'] === true;
    const endpoint = parsed.values['endpoint'];
    const findings =
      typeof endpoint === 'string' ? [await checkDaemon(endpoint)] : await checkRoots(parsed, deps);
    for (const finding of findings) printFinding(deps.io, finding, isJson);
    return exitCodeOf(findings);
  },
};

/** Somebody waits for the answer. */
const attempts = 3;

async function checkRoots(parsed: ParsedCommand, deps: CommandDeps): Promise<Finding[]> {
  const { config } = loadCommandConfig(parsed, deps);
  const logger = openLogger(config);
  const retry = { ...config.retry, attempts: Math.min(config.retry.attempts, attempts) };
  const app = await deps.buildApp({
    config: { ...config, retry },
    logger,
    metrics: new PrometheusMetrics(logger),
  });
  try {
    const findings: Finding[] = [{ subject: 'config', check: 'load', status: 'ok', message: 'is valid' }];
    for (const root of [...config.roots].sort((a, b) => a.index - b.index)) {
      const store = app.stores.get(root.store);
      if (store === undefined) throw new CommandError(exitCodes.failed, `There is no store ${root.store}.`);
      findings.push(...(await checkRoot(root, store, app)));
    }
    return findings;
  } finally {
    await app.close();
    await logger.close();
  }
}

function printFinding(io: CliIo, finding: Finding, isJson: boolean): void {
  if (isJson) printJson(io, finding);
  else print(io, `${finding.status.padEnd(7)} ${finding.subject}: ${finding.check}: ${finding.message}`);
}

function exitCodeOf(findings: readonly Finding[]): ExitCode {
  const statuses = new Set(findings.map((finding) => finding.status));
  if (statuses.has('unreachable')) return exitCodes.unreachable;
  if (statuses.has('failed')) return exitCodes.failed;
  if (statuses.has('unmet')) return exitCodes.expectation;
  return exitCodes.ok;
}
