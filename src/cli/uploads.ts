import type { OpenUpload } from '../app/uploads.js';
import { olderThanOption, parseOlderThan, showAge } from './age.js';
import type { App } from './app.js';
import type { Command, CommandDeps } from './command.js';
import { CommandError, type ExitCode, exitCodes } from './exit-codes.js';
import { print, printJson, table } from './io.js';
import type { ParsedCommand } from './options.js';
import { withApp } from './with-app.js';

export const uploadsCommand: Command = {
  name: 'uploads',
  usage: 'list | abort',
  summary:
    'Look at the open uploads under a prefix, whoever opened them, and abort old ones of no running job.',
  options: {
    prefix: { type: 'string', placeholder: 'URI', doc: 'Below one of `roots`. Required.' },
    'older-than': olderThanOption('Only uploads opened before.', '0s for list, 7d for abort'),
    yes: { type: 'boolean', doc: 'With `abort`: do it, rather than say what would be done.' },
    json: { type: 'boolean', doc: 'Print JSON: for `list` one object a line, for `abort` one object.' },
  },
  takesConfig: true,
  async run(parsed, deps) {
    const [action, stray] = parsed.positionals;
    if ((action !== 'list' && action !== 'abort') || stray !== undefined) {
      throw new CommandError(
        exitCodes.usage,
        `uploads takes list or abort, not "${parsed.positionals.join(' ')}".`,
      );
    }
    const prefix = parsed.values['prefix'];
    if (typeof prefix !== 'string') {
      throw new CommandError(
        exitCodes.usage,
        `uploads ${action} needs --prefix URI, as s3a://bucket/tables.`,
      );
    }
    if (action === 'list' && parsed.values['yes'] === true) {
      throw new CommandError(exitCodes.usage, '--yes goes with uploads abort, not with uploads list.');
    }
    const query = { prefix, olderThanMs: parseOlderThan(parsed, action === 'list' ? '0s' : '7d') };
    return withApp(parsed, deps, (app) =>
      action === 'list' ? list(app, query, parsed, deps) : abort(app, query, parsed, deps),
    );
  },
};

type Query = Parameters<App['cleanup']['listUploads']>[0];

async function list(app: App, query: Query, parsed: ParsedCommand, { io }: CommandDeps): Promise<ExitCode> {
  const uploads = await app.cleanup.listUploads(query);
  if (parsed.values['json'] === true) for (const upload of uploads) printJson(io, upload);
  else print(io, render(uploads));
  return exitCodes.ok;
}

async function abort(app: App, query: Query, parsed: ParsedCommand, { io }: CommandDeps): Promise<ExitCode> {
  const dryRun = parsed.values['yes'] !== true;
  const { aborted, kept } = await app.cleanup.abortUploads(query, dryRun);
  if (parsed.values['json'] === true) {
    printJson(io, { dryRun, aborted, kept });
    return exitCodes.ok;
  }
  if (aborted.length > 0) print(io, render(aborted));
  for (const { uri, token } of kept) print(io, `kept an upload of ${uri}: job ${token ?? ''} has not ended`);
  print(
    io,
    dryRun
      ? `${aborted.length} uploads would be aborted. Nothing was changed: --yes does it.`
      : `${aborted.length} uploads aborted.`,
  );
  return exitCodes.ok;
}

function render(uploads: readonly OpenUpload[]): string {
  const rows = uploads.map(({ uri, ageMs, token, isOfRunningJob, uploadId }) => [
    showAge(ageMs),
    token === undefined ? '-' : `${token} (${isOfRunningJob ? 'running' : 'ended'})`,
    uri,
    uploadId,
  ]);
  return table([['AGE', 'JOB', 'URI', 'UPLOAD'], ...rows]);
}
