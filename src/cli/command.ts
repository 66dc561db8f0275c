import type { BuildApp } from './app.js';
import type { CliIo } from './io.js';
import type { ExitCode } from './exit-codes.js';
import type { Options, ParsedCommand } from './options.js';

export interface Command {
  readonly name: string;
  /** Positional arguments, as in the usage line. */
  readonly usage: string;
  readonly summary: string;
  readonly options: Options;
  /** Takes the options that stand for configuration keys. */
  readonly takesConfig: boolean;
  run(parsed: ParsedCommand, deps: CommandDeps): Promise<ExitCode>;
}

export interface CommandDeps {
  readonly io: CliIo;
  readonly buildApp: BuildApp;
  readonly version: string;
  /** Calls back at each SIGTERM or SIGINT until the returned function is called. */
  readonly onStopSignal: (callback: (signal: string) => void) => () => void;
}
