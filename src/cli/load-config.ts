import { ConfigError } from '../config/config.js';
import { type LoadedConfig, loadConfig } from '../config/load.js';
import type { CommandDeps } from './command.js';
import { CommandError, exitCodes } from './exit-codes.js';
import type { ParsedCommand } from './options.js';

/** The configuration of a command; what is wrong with it ends the command with exit code 2. */
export function loadCommandConfig(parsed: ParsedCommand, deps: CommandDeps): LoadedConfig {
  try {
    return loadConfig({ file: parsed.configFile, env: deps.io.env, flags: parsed.configFlags });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const hint =
      parsed.configFile === undefined ? '\nNo configuration file was named: use --config FILE.' : '';
    throw new CommandError(exitCodes.usage, error.message + hint);
  }
}
