import { nearest } from '../config/nearest.js';
import { checkCommand } from './check.js';
import type { Command, CommandDeps } from './command.js';
import { CommandError, type ExitCode, exitCodes } from './exit-codes.js';
import { gcCommand } from './gc.js';
import { print } from './io.js';
import { jobsCommand } from './jobs.js';
import { parseCommand, renderConfigOptions, renderOptions } from './options.js';
import { serveCommand } from './serve.js';
import { uploadsCommand } from './uploads.js';
import { versionCommand } from './version.js';

const commands: readonly Command[] = [
  serveCommand,
  checkCommand,
  jobsCommand,
  gcCommand,
  uploadsCommand,
  versionCommand,
];

const exitCodesText =
  'Exit codes: 0 ok, 1 failed, 2 usage or configuration, 3 expectation not met, 4 unreachable.';

/** Runs one command line. Never throws; what went wrong is a sentence on stderr. */
export async function runCli(args: readonly string[], deps: CommandDeps): Promise<ExitCode> {
  try {
    return await dispatch(args, deps);
  } catch (error) {
    if (error instanceof CommandError) {
      deps.io.stderr.write(`${error.message}\n`);
      return error.exitCode;
    }
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    deps.io.stderr.write(`commitbridge failed: ${text}\n`);
    return exitCodes.failed;
  }
}

async function dispatch(args: readonly string[], deps: CommandDeps): Promise<ExitCode> {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const about = commands.find((command) => command.name === rest[0]);
    const text = about === undefined ? overview() : helpOf(about);
    if (name === undefined) throw new CommandError(exitCodes.usage, text);
    print(deps.io, text);
    return exitCodes.ok;
  }
  const command = commands.find((candidate) => candidate.name === (name === '--version' ? 'version' : name));
  if (command === undefined) {
    const hint = nearest(
      name,
      commands.map((candidate) => candidate.name),
    );
    const didYouMean = hint === undefined ? '' : ` Did you mean ${hint}?`;
    throw new CommandError(
      exitCodes.usage,
      `There is no command ${name}.${didYouMean} See commitbridge --help.`,
    );
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    print(deps.io, helpOf(command));
    return exitCodes.ok;
  }
  return command.run(parseCommand(rest, command.options, deps.io.env), deps);
}

function overview(): string {
  const lines = commands.map((command) => `  ${usageOf(command)}\n      ${command.summary}`);
  return [
    'commitbridge: commits the output of Hadoop and Spark jobs to object stores.',
    '',
    'Commands:',
    ...lines,
    '',
    'commitbridge COMMAND --help shows the options of a command. Results go to stdout, logs to stderr.',
    exitCodesText,
  ].join('\n');
}

function helpOf(command: Command): string {
  const parts = [`Usage: commitbridge ${usageOf(command)}`, '', command.summary, ''];
  if (Object.keys(command.options).length > 0) parts.push('Options:', renderOptions(command.options), '');
  if (command.takesConfig) {
    parts.push(
      'Configuration (a flag counts before its environment variable, that before the file):',
      renderConfigOptions(),
      '',
    );
  }
  parts.push(exitCodesText);
  return parts.join('\n');
}

function usageOf(command: Command): string {
  const config = command.takesConfig ? ' --config FILE' : '';
  return `${command.name}${command.usage === '' ? '' : ` ${command.usage}`}${config} [options]`;
}
