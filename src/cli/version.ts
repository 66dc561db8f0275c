import type { Command } from './command.js';
import { exitCodes } from './exit-codes.js';
import { print, printJson } from './io.js';

export const versionCommand: Command = {
  name: 'version',
  usage: '',
  summary: 'Print the version.',
  options: { json: { type: 'boolean', doc: 'Print JSON.' } },
  takesConfig: false,
  run(parsed, { io, version }) {
    if (parsed.values['json'] === true) printJson(io, { version });
    else print(io, version);
    return Promise.resolve(exitCodes.ok);
  },
};
