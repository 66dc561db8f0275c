import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alignTable } from '../../../scripts/lib/stack.js';
import { defaultHadoop } from '../../support/hadoop/index.js';
import { killMaster, moments, type Kill, type KillOutcome, type Moment } from './master-kills.js';
import type { Outcome } from './outcome.js';
import { formats, writesFormat } from './outputs.js';
import { Stage } from './stage.js';
import { everyRow, rowsOf, versions } from './versions.js';
import { yarnJobs } from './yarn-jobs.js';

const rows: Kill[] = (['mapreduce', 'mapred'] as const).flatMap((api) =>
  (Object.keys(moments) as Moment[]).flatMap((moment) =>
    [true, false].map((recovery) => ({
      ...{ api, moment, recovery },
      brief: api === 'mapreduce' && recovery && moment === 'in commitJob, half published',
    })),
  ),
);

/** How many of the four tasks a successor recovers: those that had ended well, where recovery is on. */
function recoverable({ moment, recovery }: Kill): number {
  if (!recovery || moment === 'before any task commits') return 0;
  // A job whose COMMIT_SUCCESS isn't there, but whose commit may be repeated, recovers all and commits again.
  return moment === 'after half of the tasks' ? 2 : 4;
}

/**
 * Where there is none yet, the successor supersedes, or, without recovery, aborts. So it does where no task had ended:
 * then nothing of the history was flushed, and MapReduce has nothing to recover from.
 */
function decisionOf({ moment, recovery }: Kill): string {
  if (/half published|after publication/.test(moment)) return 'commit';
  return recovery && moment !== 'before any task commits' ? 'superseded' : 'abort';
}

/**
 * Whether Hadoop's committer runs beside ours: everywhere on the newest Hadoop, and once a moment on the others. It has
 * no daemon to die with it.
 */
function isCompared(version: string, { api, moment, recovery }: Kill): boolean {
  if (isOfDaemon(moment)) return false;
  return version === defaultHadoop || (api === 'mapreduce' && recovery);
}

function isOfDaemon(moment: Moment): boolean {
  return moment.includes('daemon');
}

function nameOf({ api, moment, recovery }: Kill): string {
  return `${api}: application master killed ${moment}, recovery ${recovery ? 'on' : 'off'}`;
}

// Jobs on YARN, whose nodes don't have Commitbridge's jar: it comes with each job.
describe.each(versions())('Hadoop %s, YARN', { timeout: 900_000 }, (version) => {
  let stage: Stage;
  const kills: KillOutcome[] = [];
  const others: Outcome[] = [];
  beforeAll(async () => {
    stage = await Stage.start({ version, cluster: true });
  }, 900_000);
  afterAll(async () => {
    console.log(`\nHadoop ${version}, application master killed\n${killTable(kills)}\n`);
    if (others.length > 0) console.log(`\nHadoop ${version}, other incidents\n${table(others)}\n`);
    await stage.stop();
  });

  it.concurrent.each(rowsOf(yarnJobs).map((job) => [job.name, job] as const))('%s', async (_name, job) => {
    others.push(...((await job.run(stage)) ?? []));
  });

  it.concurrent.each(everyRow ? formats.filter(([, format]) => /multiple|parquet/.test(format)) : [])(
    '%s: %s',
    async (api, format) => {
      await writesFormat(stage, api, format, `formats/${api}/${format}`);
    },
  );

  // Each row with our committer and with Hadoop's, on one cluster at the same time.
  async function runKill(kill: Kill): Promise<void> {
    const at = `${kill.api}-${Object.keys(moments).indexOf(kill.moment)}-${kill.recovery ? 'on' : 'off'}`;
    const theirs = isCompared(version, kill)
      ? killMaster(stage, kill, 'FileOutputCommitter v1', `v1-${at}`)
      : undefined;
    const [ours, other] = await Promise.all([killMaster(stage, kill, 'ours', `ours-${at}`), theirs]);
    kills.push(ours);
    if (other !== undefined) kills.push(other);

    expect(ours).toEqual({
      ...{ what: kill.moment, api: kill.api, recovery: kill.recovery, committer: 'ours' },
      ...{ result: 'succeeded', output: 'one copy', success: true, left: [] },
      ...{ recovered: recoverable(kill), masters: 2, decision: decisionOf(kill) },
      // The application master aborts every job after its end; the output above is what a reader sees then.
      hookFound: 'published',
    });
  }

  const named = rowsOf(rows).map((kill) => [nameOf(kill), kill] as const);
  const ofDaemons = ([, { moment }]: readonly [string, Kill]): boolean => isOfDaemon(moment);
  it.concurrent.each(named.filter((row) => !ofDaemons(row)))('%s', async (_name, kill) => runKill(kill));
  it.each(named.filter(ofDaemons))('%s', async (_name, kill) => runKill(kill));

  it('no application master or task runs on', async () => {
    await expect.poll(() => stage.cluster.containers(), { timeout: 60_000 }).toEqual([]);
  });
});

function killTable(outcomes: readonly KillOutcome[]): string {
  const columns = outcomes.map((outcome): [string, string][] => [
    ['recovery', outcome.recovery ? 'on' : 'off'],
    ...columnsOf(outcome),
    ['recovered', String(outcome.recovered)],
  ]);
  return print(columns);
}

function table(outcomes: readonly Outcome[]): string {
  return print(outcomes.map(columnsOf));
}

function columnsOf({ what, api, committer, result, output, success, left }: Outcome): [string, string][] {
  return [
    ['what', what],
    ['API', api],
    ['committer', committer],
    ['job', result],
    ['output', output],
    ['_SUCCESS', success ? 'yes' : 'no'],
    ['left', left.length === 0 ? 'nothing' : `${left.length} objects`],
  ];
}

function print(lines: readonly [string, string][][]): string {
  const header = lines[0]?.map(([name]) => name) ?? [];
  return alignTable([header, ...lines.map((line) => line.map(([, value]) => value))]);
}
