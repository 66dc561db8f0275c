import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Config, ConfigError } from './config.js';
import type { Layer } from './entries.js';
import { envLayer, fileLayer, flagEntry } from './layers.js';
import { type Effective, namesIn, resolve } from './resolve.js';
import { validate } from './validate.js';

export interface ConfigSources {
  /** Path of the YAML file. */
  readonly file?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly flags?: readonly ConfigFlag[];
}

export interface ConfigFlag {
  /** Dotted, as `log.level`. */
  readonly path: string;
  readonly value: string;
  /** As `flag --log-level`. */
  readonly origin: string;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly effective: readonly Effective[];
}

/** Defaults < file < environment < flags, key by key. Throws {@link ConfigError} with everything that is wrong. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const problems: string[] = [];
  const layers: Layer[] = [];
  if (sources.file !== undefined) {
    layers.push(fileLayer(readConfigFile(sources.file), basename(sources.file), problems));
  }
  const flags: Layer = new Map();
  for (const { path, value, origin } of sources.flags ?? []) {
    flagEntry(path.split('.'), value, origin, flags, problems);
  }
  layers.push(flags);
  layers.push(envLayer(sources.env ?? {}, namesIn(layers, 'stores'), problems));
  const { values, effective } = resolve(layers, (path) => readFileSync(path, 'utf8'), problems);
  throwIf(problems);
  const config = validate(values, problems, sources.env ?? {});
  throwIf(problems);
  return { config, effective };
}

function readConfigFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([`The configuration file can't be read: ${(error as Error).message}.`]);
  }
}

function throwIf(problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigError(problems);
}
