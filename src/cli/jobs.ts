import type { JobsAdmin, JobView } from './app.js';
import { showAge } from './age.js';
import type { Command, CommandDeps } from './command.js';
import { CommandError, type ExitCode, exitCodes } from './exit-codes.js';
import { type CliIo, print, printJson, table } from './io.js';
import type { ParsedCommand } from './options.js';
import { withApp } from './with-app.js';

const actions = ['list', 'show', 'commit', 'abort'] as const;
type Action = (typeof actions)[number];

export const jobsCommand: Command = {
  name: 'jobs',
  usage: 'list | show TOKEN | commit TOKEN | abort TOKEN',
  summary: 'Look at jobs in the store, and finish or undo one whose driver is gone.',
  options: {
    json: { type: 'boolean', doc: 'Print JSON: an object, or for `list` one object a line.' },
    force: {
      type: 'boolean',
      doc:
        'With `abort`: end a job that can be neither finished nor undone, or that has records which cannot be read, and ' +
        'name every key and record it leaves.',
    },
  },
  takesConfig: true,
  async run(parsed, deps) {
    const { action, token } = parseAction(parsed);
    return withApp(parsed, deps, (app) =>
      runAction(action, token, { jobs: app.jobs, nowMs: app.clock.nowMs() }, parsed, deps),
    );
  },
};

function parseAction({ positionals, values }: ParsedCommand): { action: Action; token: string } {
  const [word, token, ...rest] = positionals;
  const action = actions.find((candidate) => candidate === word);
  if (action === undefined) {
    throw new CommandError(exitCodes.usage, `jobs takes one of ${actions.join(', ')}, not "${word ?? ''}".`);
  }
  if (action === 'list' ? token !== undefined : token === undefined || rest.length > 0) {
    throw new CommandError(
      exitCodes.usage,
      `jobs ${action} takes ${action === 'list' ? 'no' : 'one'} token.`,
    );
  }
  if (values['force'] === true && action !== 'abort') {
    throw new CommandError(exitCodes.usage, `--force goes with jobs abort, not with jobs ${action}.`);
  }
  return { action, token: token ?? '' };
}

async function runAction(
  action: Action,
  token: string,
  { jobs, nowMs }: { readonly jobs: JobsAdmin; readonly nowMs: number },
  parsed: ParsedCommand,
  { io }: CommandDeps,
): Promise<ExitCode> {
  const isJson = parsed.values['json'] === true;
  switch (action) {
    case 'list': {
      const views = await jobs.list();
      if (isJson) for (const view of views) printJson(io, view);
      else print(io, renderList(views, nowMs));
      return exitCodes.ok;
    }
    case 'show': {
      const view = await jobs.show(token);
      if (view === undefined) {
        throw new CommandError(exitCodes.expectation, `No root holds a job with the token ${token}.`);
      }
      printView(io, view, isJson);
      return exitCodes.ok;
    }
    case 'commit': {
      const before = await jobs.show(token);
      const view = await jobs.commit(token);
      if (before?.state === 'undecided') note(io, decidedByHand(view));
      printView(io, view, isJson);
      return exitCodes.ok;
    }
    case 'abort': {
      const view = await jobs.abort(token, { force: parsed.values['force'] === true });
      if (view.state === 'done')
        note(io, `Job ${token} was published before: its output stays, nothing was undone.`);
      const unreadable = view['unreadable'];
      if (Array.isArray(unreadable)) note(io, leftOut(unreadable));
      printView(io, view, isJson);
      return exitCodes.ok;
    }
  }
}

/** The driver alone knew how many tasks there were. */
function decidedByHand({ token, tasks }: JobView): string {
  return (
    `Job ${token} was not decided: it is now committed with the ${typeof tasks === 'number' ? tasks : 'known'} tasks that had committed. ` +
    'Whether these were all of its tasks is known to its driver only: the output, with its success marker, may be a part.'
  );
}

function leftOut(unreadable: readonly unknown[]): string {
  return (
    `${unreadable.length} records could not be read and were left, with the uploads and objects that only they name, ` +
    'which are not provably the job’s. Look at them, end the uploads with `commitbridge uploads abort --prefix`, then ' +
    `remove the records by hand:\n${unreadable.map((why) => `  ${String(why)}`).join('\n')}`
  );
}

/** For people, beside the result. */
function note(io: CliIo, sentence: string): void {
  io.stderr.write(`${sentence}\n`);
}

function renderList(views: readonly JobView[], nowMs: number): string {
  const rows = views.map((view) => [
    view.token,
    String(view.jobAttempt),
    view.state,
    ageOf(view['createdAt'], nowMs),
    oneLine(view['description']),
    view.destination,
  ]);
  return table([['TOKEN', 'ATTEMPT', 'STATE', 'AGE', 'APPLICATION', 'DESTINATION'], ...rows]);
}

/** Since SetupJob, by the clocks of the daemon that it was sent to and of this machine. */
function ageOf(createdAt: unknown, nowMs: number): string {
  const createdMs = typeof createdAt === 'string' ? Date.parse(createdAt) : NaN;
  return Number.isNaN(createdMs) ? '-' : showAge(Math.max(0, nowMs - createdMs));
}

const maxDescription = 60;

/** What the client said of itself: the application's name and the user. */
function oneLine(description: unknown): string {
  if (typeof description !== 'string' || description === '') return '-';
  const text = description.replaceAll(/\s+/g, ' ').replaceAll(/\p{Control}/gu, '?');
  const characters = Array.from(text);
  return characters.length > maxDescription ? `${characters.slice(0, maxDescription - 1).join('')}…` : text;
}

function printView(io: CliIo, view: JobView, isJson: boolean): void {
  if (isJson) printJson(io, view);
  else print(io, table(Object.entries(view).map(([key, value]) => [key, showValue(value)])));
}

function showValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
