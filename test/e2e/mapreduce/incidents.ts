import { expect } from 'vitest';
import { defaultHadoop, type Program, type ProgramResult } from '../../support/hadoop/index.js';
import { Gate } from '../spark/gate.js';
import { bothCommitters, confOf, outcomeOf, type Committer, type Outcome } from './outcome.js';
import type { Api, Conf, Stage } from './stage.js';
import { maps, recordedAttempts, restOf, stateKey, type YarnJob } from './yarn-job.js';

const apis: Api[] = ['mapreduce', 'mapred'];

/** What happens to a job, with ours and with Hadoop's committer. Only of ours anything is expected. */
interface Scene {
  readonly what: string;
  readonly api: Api;
  readonly directory: string;
  readonly conf: Conf;
  readonly rows: number;
  /** What goes wrong while it runs. */
  happens?(run: Run): Promise<void>;
  /** What must be true of a job with our committer. */
  expected(run: Run, result: ProgramResult): Promise<void>;
}

interface Run {
  readonly stage: Stage;
  readonly committer: Committer;
  readonly directory: string;
  readonly program: Program;
  readonly job: string;
}

async function play(stage: Stage, scene: Scene, committer: Committer): Promise<Outcome> {
  const { what, api, rows } = scene;
  const directory = `${committer === 'ours' ? 'ours' : 'v1'}-${scene.directory}`;
  const program = await stage.startWrite(api, directory, { ...scene.conf, ...confOf(committer) });
  const run = { stage, committer, directory, program, job: await program.jobId() };
  await scene.happens?.(run);
  const result = await program.result;
  await stage.cluster.untilGone(run.job);
  if (committer === 'ours') await scene.expected(run, result);
  return outcomeOf(stage, { what, api, committer, directory, rows }, result.exitCode);
}

/** All scenes at the same time: most of a job is waiting for JVMs. */
async function playAll(stage: Stage, scenes: readonly Scene[], by: readonly Committer[]): Promise<Outcome[]> {
  return Promise.all(scenes.flatMap((scene) => by.map(async (committer) => play(stage, scene, committer))));
}

/** Attempts that fail or are slow end well with any committer: to see that once is enough. */
function comparedOnce(stage: Stage, api: Api): readonly Committer[] {
  return stage.gateway.version === defaultHadoop && api === 'mapreduce' ? bothCommitters : ['ours'];
}

function failing(api: Api, how: 'throw' | 'halt'): Scene {
  const fail = { 'it.fail.task': 1, 'it.fail.attempts': 3, 'it.fail.how': how };
  return {
    what: how === 'throw' ? 'three attempts throw' : 'three attempts’ JVMs die',
    ...{ api, directory: `${api}-fails-${how}`, conf: { ...maps(2), ...fail }, rows: 40 },
    expected: async ({ stage, directory, program }) => {
      await stage.succeeds(program);
      expect(program.output.match(/Status : FAILED/g)).toHaveLength(3);
      await restOf(stage, api, directory, 2, 40);
    },
  };
}

function speculative(stage: Stage, api: Api, kind: 'map' | 'reduce'): Scene {
  return {
    what: `a slow node, speculative ${kind}s`,
    ...{ api, directory: `${api}-speculative-${kind}`, rows: 160 },
    conf: {
      ...maps(4),
      'it.rows': 40,
      'mapreduce.job.reduces': kind === 'map' ? 0 : 4,
      ...{ 'mapreduce.map.speculative': 'true', 'mapreduce.reduce.speculative': 'true' },
      ...{ 'it.slow.node': stage.cluster.nodes[0] ?? 0, 'it.slow.ms': 1_500 },
      ...{ 'mapreduce.job.speculative.retry-after-no-speculate': 500 },
      ...{ 'mapreduce.job.speculative.retry-after-speculate': 1_000 },
      'mapreduce.job.speculative.speculative-cap-running-tasks': 1.0,
      'mapreduce.job.speculative.slowtaskthreshold': 0.1,
    },
    expected: async ({ directory, program, job }) => {
      await stage.succeeds(program);
      const [log = ''] = await stage.cluster.applicationMasterLogs(job);
      expect(log, 'the cluster speculated').toMatch(new RegExp(`we are speculating task_\\w+_${kind[0]}_`));
      const letter = api === 'mapred' ? '' : kind === 'map' ? 'm' : 'r';
      await stage.expectOneCopy(directory, 4, 160, letter);
      await stage.expectNothingLeft(directory);
    },
  };
}

/** Of Hadoop's committer, the rename of the task's directory. */
function killedInCommitTask(when: 'before' | 'after'): Scene {
  return {
    what: `a task killed in commitTask, ${when} its effect`,
    ...{ api: 'mapreduce', directory: `killed-in-commit-${when}`, conf: maps(2), rows: 40 },
    happens: async ({ stage, committer, directory, job }) => {
      const effect =
        committer === 'ours'
          ? ({ kind: 'put', key: stateKey(job, 'tasks/m-000001/0') } as const)
          : ({ kind: 'copy', key: new RegExp(`^${directory}/_temporary/1/task_.*/part-m-00001$`) } as const);
      const hold = when === 'before' ? stage.observer.holdBefore(effect) : stage.observer.holdAfter(effect);
      await hold.held;
      await stage.cluster.killTask(`${job.replace('job', 'attempt')}_m_000001_0`);
      hold.release();
      // Of a container that ends by itself the application master aborts nothing: the job has two committed attempts.
      if (committer === 'ours') await expectRecord(stage, job, 'm-000001/0', 'pendingset');
    },
    expected: async ({ stage, directory, program, job }) => {
      await stage.succeeds(program);
      expect(recordedAttempts(stage, job, 'm-000001'), 'MapReduce’s next attempt').toContain(1);
      await restOf(stage, 'mapreduce', directory, 2, 40);
    },
  };
}

/** The application master ends the task itself, and then calls abortTask of an attempt that it never ran. */
function failedInCommitTask(): Scene {
  return {
    what: 'mapred job -fail-task in commitTask',
    ...{ api: 'mapreduce', directory: 'failed-in-commit', conf: maps(2), rows: 40 },
    happens: async ({ stage, job }) => {
      const hold = stage.observer.holdAfter({ kind: 'put', key: stateKey(job, 'tasks/m-000001/0') });
      await hold.held;
      const attempt = `${job.replace('job', 'attempt')}_m_000001_0`;
      await stage.succeeds(
        await stage.gateway.start('org.apache.hadoop.mapred.JobClient', ['-fail-task', attempt]),
      );
      hold.release();
      await expectRecord(stage, job, 'm-000001/0', 'tombstone');
    },
    expected: async ({ stage, directory, program }) => {
      await stage.succeeds(program);
      await restOf(stage, 'mapreduce', directory, 2, 40);
    },
  };
}

/** What the record of an attempt is when the job commits, and before its end removes it. */
async function expectRecord(
  stage: Stage,
  job: string,
  attempt: string,
  kind: 'pendingset' | 'tombstone',
): Promise<void> {
  const gate = new Gate(stage.observer, { kind: 'put', key: planKey(job) });
  try {
    await gate.reached;
    const record = (await stage.reader.getObject(stateKey(job, `tasks/${attempt}`)))?.toString();
    expect(record, `the record of ${attempt}`).toContain(`"commitbridge/${kind}/1"`);
  } finally {
    gate.open();
  }
}

type KillMoment = 'its tasks' | 'commitJob' | 'commitJob, half published';

function killedByYarn(moment: KillMoment): Scene {
  return {
    what: `yarn application -kill in ${moment}`,
    ...{
      api: 'mapreduce',
      directory: `killed-in-${moment.replaceAll(/\W+/g, '-')}`,
      conf: maps(2),
      rows: 40,
    },
    happens: async ({ stage, committer, directory, job }) => {
      const gate = new Gate(stage.observer, ...momentOf(moment, committer, directory, job));
      await gate.reached;
      const kill = await stage.gateway.start('org.apache.hadoop.yarn.client.cli.ApplicationCLI', [
        ...['application', '-kill', job.replace('job', 'application')],
      ]);
      await stage.succeeds(kill);
      await stage.cluster.untilGone(job);
      gate.open();
    },
    expected: async ({ stage, directory }, { exitCode }) => {
      expect(exitCode).not.toBe(0);
      await stage.expectNothingLeft(directory);
      // One file was visible: it is taken back where the abort of the shutdown hook arrives, else the other follows.
      const isAll = moment === 'commitJob, half published' && (await stage.files(directory)).length > 0;
      if (isAll) await stage.expectOneCopy(directory, 2, 40, 'm');
      else expect(await stage.files(directory)).toEqual([]);
    },
  };
}

type GateArguments = [
  ConstructorParameters<typeof Gate>[1],
  NonNullable<ConstructorParameters<typeof Gate>[2]>,
];

function momentOf(moment: KillMoment, committer: Committer, directory: string, job: string): GateArguments {
  if (moment === 'its tasks') {
    return [{ kind: ['part', 'put'], key: new RegExp(`^${directory}/.*part-m-00001$`) }, {}];
  }
  const second: GateArguments[1] = { from: 2 };
  const key = new RegExp(`^${directory}/part-`);
  if (committer !== 'ours') return [{ kind: 'copy', key }, second];
  return moment === 'commitJob'
    ? [{ kind: 'put', key: planKey(job) }, {}]
    : [{ kind: 'complete', key }, second];
}

/** Of the plan, which is written just before the decision. */
function planKey(job: string): RegExp {
  return new RegExp(`^\\.commitbridge/jobs/${job}/1/plan-`);
}

export const incidents: YarnJob[] = [
  ...apis.map((api): YarnJob => ({
    name: `${api}: attempts that fail three times, by exception and by a dead JVM, succeed at the fourth`,
    run: async (stage) =>
      playAll(stage, [failing(api, 'throw'), failing(api, 'halt')], comparedOnce(stage, api)),
  })),
  ...apis.map((api): YarnJob => ({
    name: `${api}: speculative maps and reducers, one node slow: each task’s output once`,
    run: async (stage) =>
      playAll(
        stage,
        [speculative(stage, api, 'map'), speculative(stage, api, 'reduce')],
        comparedOnce(stage, api),
      ),
  })),
  ...(['before', 'after'] as const).map((when): YarnJob => ({
    name: `a task killed in commitTask, ${when} its record is at the store: the next attempt’s output, once`,
    run: async (stage) => playAll(stage, [killedInCommitTask(when)], bothCommitters),
  })),
  {
    name: 'a task failed in commitTask by the application master, which aborts it: the next attempt’s output, once',
    run: async (stage) => playAll(stage, [failedInCommitTask()], ['ours']),
  },
  {
    name: 'yarn application -kill, in the tasks and in commitJob: nothing is visible and nothing is left',
    // Hadoop's committer has no decision: in its commitJob it is killed at its second copy.
    run: async (stage) =>
      playAll(stage, [killedByYarn('its tasks'), killedByYarn('commitJob')], bothCommitters),
  },
  {
    name: 'yarn application -kill in commitJob, half published: in the end all or nothing is visible, and nothing is left',
    run: async (stage) => playAll(stage, [killedByYarn('commitJob, half published')], ['ours']),
  },
];
