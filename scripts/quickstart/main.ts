// Runs the demonstration and says on the last line of stdout what came out. `scripts/quickstart.mjs` starts it.
import { parseArgs } from 'node:util';
import { demonstrate, type Result } from './demonstration.js';

const { values } = parseArgs({ options: { store: { type: 'string' }, started: { type: 'string' } } });
const started = Number(values.started ?? Date.now());
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stopped.abort());
}

try {
  const result = await demonstrate(values.store === 'oss' ? 'oss' : 's3proxy', say, stopped.signal);
  const seconds = Math.round((Date.now() - started) / 100) / 10;
  const broken = brokenPromises(result);
  say('');
  for (const sentence of broken) say(`NOT AS PROMISED: ${sentence}`);
  if (broken.length === 0) say(`All as promised, in ${seconds} s. All that was started has been stopped.`);
  process.stdout.write(`${JSON.stringify({ ...result, seconds })}\n`);
  process.exitCode = broken.length === 0 ? 0 : 1;
} catch (error) {
  if (!stopped.signal.aborted) say(`\nThe quickstart did not work: ${(error as Error).message}`);
  process.exitCode = stopped.signal.aborted ? 130 : 1;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function brokenPromises(result: Result): string[] {
  const checks: [boolean, string][] = [
    [result.files > 0, 'the table has no files.'],
    [
      result.visible_before_commit === 0,
      `${result.visible_before_commit} objects were visible before the commit.`,
    ],
    [result.uploads_open_before_commit > 0, 'no upload was open before the commit: nothing was held back.'],
    [result.uploads_left === 0, `${result.uploads_left} uploads are still open.`],
    [
      result.records_left === 0,
      `${result.records_left} records of tasks or uploads are left in the staging root.`,
    ],
    [
      result.rows_written === result.rows_read,
      `the Parquet footers count ${result.rows_written} rows, Spark read ${result.rows_read}.`,
    ],
  ];
  return checks.filter(([holds]) => !holds).map(([, sentence]) => sentence);
}
