import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alignTable } from '../../../scripts/lib/stack.js';
import { killMaster, moments, type Moment, type Outcome, type Row } from './master-kills.js';
import { Stage } from './stage.js';
import { rowsOf, versions } from './versions.js';

const rows: Row[] = (['mapreduce', 'mapred'] as const).flatMap((api) =>
  (Object.keys(moments) as Moment[]).flatMap((moment) =>
    [true, false].map((recovery) => ({
      ...{ api, moment, recovery },
      brief: api === 'mapreduce' && recovery && moment === 'in commitJob, half published',
    })),
  ),
);

/** How many of the four tasks a successor recovers: those that had ended well, where recovery is on. */
function recoverable({ moment, recovery }: Row): number {
  if (!recovery || moment === 'before any task commits') return 0;
  // A job whose COMMIT_SUCCESS isn't there, but whose commit may be repeated, recovers all and commits again.
  return moment === 'after half of the tasks' ? 2 : 4;
}

function name({ api, moment, recovery }: Row): string {
  return `${api}: killed ${moment}, recovery ${recovery ? 'on' : 'off'}`;
}

// Each row runs with our committer and with Hadoop's, on one cluster at the same time.
describe.each(versions())('Hadoop %s, the application master killed', { timeout: 400_000 }, (version) => {
  let stage: Stage;
  const outcomes: Outcome[] = [];
  beforeAll(async () => {
    stage = await Stage.start({ version, cluster: true });
  }, 900_000);
  afterAll(async () => {
    console.log(`\nHadoop ${version}, application master killed\n${table(outcomes)}\n`);
    await stage.stop();
  });

  it.each(rowsOf(rows).map((row) => [name(row), row] as const))('%s', async (_name, row) => {
    const at = `${row.api}-${Object.keys(moments).indexOf(row.moment)}-${row.recovery ? 'on' : 'off'}`;
    const aborts = await stage.calls('AbortJob');
    const [ours, theirs] = await Promise.all([
      killMaster(stage, row, 'ours', `ours-${at}`),
      killMaster(stage, row, 'FileOutputCommitter v1', `v1-${at}`),
    ]);
    outcomes.push(ours, theirs);

    expect(ours).toEqual({
      ...{ row, committer: 'ours', result: 'succeeded', output: 'one copy', success: true },
      ...{ recovered: recoverable(row), masters: 2, left: [] },
    });
    // The application master's hook aborts the job after its success; the output above is what a reader sees then.
    expect(await stage.calls('AbortJob')).toBeGreaterThan(aborts);
  });
});

function table(outcomes: readonly Outcome[]): string {
  const header = ['killed', 'API', 'recovery', 'committer', 'job', 'output', '_SUCCESS', 'recovered', 'left'];
  const lines = outcomes.map(({ row, committer, result, output, success, recovered, left }) => [
    ...[row.moment, row.api, row.recovery ? 'on' : 'off', committer, result, output],
    ...[success ? 'yes' : 'no', String(recovered), left.length === 0 ? 'nothing' : `${left.length} objects`],
  ]);
  return alignTable([header, ...lines]);
}
