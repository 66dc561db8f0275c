import { parseArgs, type ParseArgsConfig } from 'node:util';
import { fixedKeys, isListOfSections } from '../config/entries.js';
import { envName } from '../config/layers.js';
import type { ConfigFlag } from '../config/load.js';
import { nearest } from '../config/nearest.js';
import { schema } from '../config/schema.js';
import { CommandError, exitCodes } from './exit-codes.js';

/** An option of a command besides those that stand for configuration keys. */
export interface Option {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly placeholder?: string;
  readonly doc: string;
}

export type Options = Readonly<Record<string, Option>>;

export interface ParsedCommand {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
  readonly configFile: string | undefined;
  readonly configFlags: readonly ConfigFlag[];
}

interface ConfigOption {
  readonly name: string;
  readonly path: string;
  readonly env: string;
  readonly isBoolean: boolean;
  readonly isList: boolean;
  readonly defaultText: string;
  readonly doc: string;
}

/** `limits.maxMessage` is `--limits-max-message`; keys below names of the user's only have `--set`. */
const configOptions: readonly ConfigOption[] = fixedKeys(schema).flatMap(({ path, node }): ConfigOption[] => {
  if (node.kind === 'named' || isListOfSections(node)) return [];
  return [
    {
      name: path.map(kebab).join('-'),
      path: path.join('.'),
      env: envName(path),
      isBoolean: node.kind === 'leaf' && node.isBoolean,
      isList: node.kind === 'list',
      defaultText: node.kind === 'leaf' ? (node.defaultText ?? '') : node.defaultText.join(','),
      doc: node.doc,
    },
  ];
});

function kebab(key: string): string {
  return key.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}

const configFileEnv = 'COMMITBRIDGE_CONFIG';

/** Parses the arguments after the command's name. Throws a {@link CommandError} that names what is wrong. */
export function parseCommand(
  args: readonly string[],
  options: Options,
  env: Readonly<Record<string, string | undefined>>,
): ParsedCommand {
  const spec: NonNullable<ParseArgsConfig['options']> = {
    help: { type: 'boolean', short: 'h' },
    config: { type: 'string', short: 'c' },
    set: { type: 'string', multiple: true },
  };
  for (const [name, option] of Object.entries(options)) {
    spec[name] = { type: option.type, ...(option.short === undefined ? {} : { short: option.short }) };
  }
  for (const option of configOptions) {
    spec[option.name] ??= { type: option.isBoolean ? 'boolean' : 'string', multiple: option.isList };
  }
  const { values, positionals } = parsed([...args], spec);
  const single: Record<string, string | boolean | undefined> = {};
  for (const [name, value] of Object.entries(values)) {
    if (!Array.isArray(value)) single[name] = value;
  }
  return {
    values: single,
    positionals,
    configFile: typeof single['config'] === 'string' ? single['config'] : env[configFileEnv],
    configFlags: [...namedFlags(values), ...setFlags(values['set'])],
  };
}

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

function parsed(args: string[], options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ args, options, allowPositionals: true, allowNegative: true, strict: true });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const unknown = /Unknown option '--?([^']+)'/.exec(message)?.[1];
    const hint = unknown === undefined ? undefined : nearest(unknown, Object.keys(options));
    const sentence =
      unknown === undefined
        ? message
        : `There is no option --${unknown}.${hint === undefined ? '' : ` Did you mean --${hint}?`}`;
    throw new CommandError(exitCodes.usage, sentence);
  }
}

function namedFlags(values: Values): ConfigFlag[] {
  return configOptions.flatMap(({ name, path }): ConfigFlag[] => {
    const value = values[name];
    if (value === undefined) return [];
    const text = Array.isArray(value) ? value.join(',') : String(value);
    return [{ path, value: text, origin: `flag --${value === false ? 'no-' : ''}${name}` }];
  });
}

function setFlags(values: Values[string]): ConfigFlag[] {
  if (!Array.isArray(values)) return [];
  return values.map((text) => {
    const [, path, value] = /^([^=]+)=(.*)$/s.exec(String(text)) ?? [];
    if (path === undefined || value === undefined) {
      throw new CommandError(exitCodes.usage, `--set takes KEY=VALUE, as stores.main.region=eu-west-1.`);
    }
    return { path, value, origin: 'flag --set' };
  });
}

export function renderOptions(options: Options): string {
  const rows = Object.entries(options).map(([name, option]) => {
    const short = option.short === undefined ? '' : `-${option.short}, `;
    const argument = option.type === 'string' ? ` ${option.placeholder ?? 'VALUE'}` : '';
    return `  ${short}--${name}${argument}\n      ${option.doc}`;
  });
  return rows.join('\n');
}

export function renderConfigOptions(): string {
  const own = [
    `  -c, --config FILE\n      The YAML file. Env: ${configFileEnv}.`,
    '  --set KEY=VALUE\n      Any key, also below stores; may be repeated.',
  ];
  const keys = configOptions.map(({ name, env, isBoolean, defaultText, doc }) => {
    const shownDefault = defaultText === '' ? '' : ` Default: ${defaultText}.`;
    return `  --${isBoolean ? `[no-]${name}` : `${name} VALUE`}\n      ${doc}${shownDefault} Env: ${env}.`;
  });
  return [...own, ...keys].join('\n');
}
