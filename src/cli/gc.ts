import type { GcJob, GcReport } from '../app/gc.js';
import { olderThanOption, parseOlderThan } from './age.js';
import type { Command } from './command.js';
import { CommandError, type ExitCode, exitCodes } from './exit-codes.js';
import { type CliIo, print, printJson, table } from './io.js';
import { withApp } from './with-app.js';

const defaultAge = '7d';

export const gcCommand: Command = {
  name: 'gc',
  usage: '',
  summary:
    'End abandoned jobs, process late records, forget jobs that ended long ago. Says what it would do; --yes does it.',
  options: {
    prefix: {
      type: 'string',
      placeholder: 'URI',
      doc: 'Only jobs whose destination lies under it. Aborts also every open upload there that is older than the age and of no running job, whoever opened it.',
    },
    'older-than': olderThanOption('A job of which nothing is younger is abandoned.', defaultAge),
    yes: { type: 'boolean', doc: 'Do it.' },
    json: { type: 'boolean', doc: 'Print one JSON object.' },
  },
  takesConfig: true,
  async run(parsed, deps) {
    const [stray] = parsed.positionals;
    if (stray !== undefined)
      throw new CommandError(exitCodes.usage, `gc takes no argument, but got "${stray}".`);
    const prefix = parsed.values['prefix'];
    const olderThanMs = parseOlderThan(parsed, defaultAge);
    return withApp(parsed, deps, async (app) => {
      const report = await app.cleanup.gc({
        olderThanMs,
        dryRun: parsed.values['yes'] !== true,
        ...(typeof prefix === 'string' ? { prefix } : {}),
      });
      if (parsed.values['json'] === true) printJson(deps.io, report);
      else render(deps.io, report);
      return exitCodeOf(report);
    });
  },
};

function render(io: CliIo, report: GcReport): void {
  const { jobs, uploads, dryRun } = report;
  if (jobs.length > 0) {
    const rows = jobs.map((job) => [job.token, job.state, deedsOf(job), job.destination]);
    print(io, table([['TOKEN', 'STATE', dryRun ? 'WOULD' : 'DONE', 'DESTINATION'], ...rows]));
  }
  for (const { uri, uploadId } of uploads?.aborted ?? []) {
    print(io, `${dryRun ? 'would abort' : 'aborted'} the upload ${uploadId} of ${uri}`);
  }
  for (const { uri, token } of uploads?.kept ?? []) {
    print(io, `kept an upload of ${uri}: job ${token ?? ''} has not ended`);
  }
  print(io, `${report.seen} jobs seen, ${jobs.length} with something to do.`);
  if (report.uploadsProblem !== undefined) io.stderr.write(`${report.uploadsProblem}\n`);
  if (dryRun) print(io, 'Nothing was changed: --yes does it.');
}

function deedsOf({ ending, late, collected, problem }: GcJob): string {
  const deeds: string[] = [];
  if (ending !== undefined) deeds.push(ending);
  if (late !== undefined) {
    deeds.push(
      `process ${late.records} records, ${late.ledgerSegments} ledger segments, ${late.closedFiles} closed files and ${late.claims} claims (${late.uploads} uploads)`,
    );
  }
  if (collected !== undefined) deeds.push(`remove ${collected} objects of its state`);
  if (problem !== undefined) deeds.push(`failed: ${problem}`);
  return deeds.join(', ');
}

function exitCodeOf({ jobs, uploadsProblem }: GcReport): ExitCode {
  if (jobs.some(({ problem }) => problem !== undefined)) return exitCodes.failed;
  return uploadsProblem === undefined ? exitCodes.ok : exitCodes.expectation;
}
