import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alignTable } from '../../../scripts/lib/stack.js';
import { killMaster, moments, type Kill, type Moment, type Outcome } from './master-kills.js';
import { formats, writesFormat } from './outputs.js';
import { Stage } from './stage.js';
import { everyRow, rowsOf, versions } from './versions.js';
import { yarnJobs } from './yarn-jobs.js';

const kills: Kill[] = (['mapreduce', 'mapred'] as const).flatMap((api) =>
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

function nameOf({ api, moment, recovery }: Kill): string {
  return `${api}: application master killed ${moment}, recovery ${recovery ? 'on' : 'off'}`;
}

// Jobs on YARN, whose nodes don't have Commitbridge's jar: it comes with each job.
describe.each(versions())('Hadoop %s, YARN', { timeout: 900_000 }, (version) => {
  let stage: Stage;
  const outcomes: Outcome[] = [];
  beforeAll(async () => {
    stage = await Stage.start({ version, cluster: true });
  }, 900_000);
  afterAll(async () => {
    console.log(`\nHadoop ${version}, application master killed\n${table(outcomes)}\n`);
    await stage.stop();
  });

  it.concurrent.each(rowsOf(yarnJobs).map((job) => [job.name, job] as const))('%s', async (_name, job) => {
    await job.run(stage);
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
    const [ours, theirs] = await Promise.all([
      killMaster(stage, kill, 'ours', `ours-${at}`),
      killMaster(stage, kill, 'FileOutputCommitter v1', `v1-${at}`),
    ]);
    outcomes.push(ours, theirs);

    expect(ours).toEqual({
      ...{ kill, committer: 'ours', result: 'succeeded', output: 'one copy', success: true },
      ...{ recovered: recoverable(kill), masters: 2, left: [] },
      // The application master aborts every job after its end; the output above is what a reader sees then.
      hookFound: 'published',
    });
  }

  const named = rowsOf(kills).map((kill) => [nameOf(kill), kill] as const);
  const ofDaemons = ([, { moment }]: readonly [string, Kill]): boolean => moment.includes('daemon');
  it.concurrent.each(named.filter((row) => !ofDaemons(row)))('%s', async (_name, kill) => runKill(kill));
  it.each(named.filter(ofDaemons))('%s', async (_name, kill) => runKill(kill));

  it('no application master or task runs on', async () => {
    await expect.poll(() => stage.cluster.containers(), { timeout: 60_000 }).toEqual([]);
  });
});

function table(outcomes: readonly Outcome[]): string {
  const header = ['killed', 'API', 'recovery', 'committer', 'job', 'output', '_SUCCESS', 'recovered', 'left'];
  const lines = outcomes.map(({ kill, committer, result, output, success, recovered, left }) => [
    ...[kill.moment, kill.api, kill.recovery ? 'on' : 'off', committer, result, output],
    ...[success ? 'yes' : 'no', String(recovered), left.length === 0 ? 'nothing' : `${left.length} objects`],
  ]);
  return alignTable([header, ...lines]);
}
