import { expect } from 'vitest';
import { Gate } from '../spark/gate.js';
import type { Program } from '../../support/hadoop/index.js';
import { fileOutputCommitter, type Api, type Conf, type Stage } from './stage.js';

/** Four maps that write a file of 20 KB each. */
const tasks = 4;
const rowsPerTask = 50;
const job: Conf = {
  'mapreduce.job.reduces': 0,
  'it.maps': tasks,
  'it.rows': rowsPerTask,
  'it.value-bytes': 400,
  'commitbridge.inline-limit': 0,
  // What a successor may recover is what the history says: flush it after each task.
  'yarn.app.mapreduce.am.history.max-unflushed-events': 1,
};

export const committers = { ours: {}, 'FileOutputCommitter v1': fileOutputCommitter } as const;
export type Committer = keyof typeof committers;

export interface Row {
  readonly api: Api;
  readonly moment: Moment;
  readonly recovery: boolean;
  /** `npm test` has time for it. */
  readonly brief?: boolean;
}

export interface Outcome {
  readonly row: Row;
  readonly committer: Committer;
  readonly result: 'succeeded' | 'failed';
  /** `one copy`, `none`, or what is there of the rows. */
  readonly output: string;
  readonly success: boolean;
  readonly recovered: number;
  readonly masters: number;
  readonly left: readonly string[];
}

/** What is going on when the application master dies. */
export const moments = {
  'before any task commits': beforeAnyTask,
  'after half of the tasks': afterHalf,
  'in commitJob, before the decision': beforeDecision,
  'in commitJob, half published': halfPublished,
  'after publication, before COMMIT_SUCCESS': afterPublication,
} as const;
export type Moment = keyof typeof moments;

interface Scene {
  readonly stage: Stage;
  readonly directory: string;
  readonly committer: Committer;
  readonly program: Program;
}

/** Runs a job whose first application master is killed at that moment, and looks at what became of it. */
export async function killMaster(
  stage: Stage,
  row: Row,
  committer: Committer,
  directory: string,
): Promise<Outcome> {
  const conf = {
    ...job,
    ...committers[committer],
    'yarn.app.mapreduce.am.job.recovery.enable': String(row.recovery),
  };
  const kill = moments[row.moment](stage, directory, committer);
  const program = await stage.startWrite(row.api, directory, conf);
  const id = await program.jobId();
  await kill.when({ stage, directory, committer, program });
  await stage.cluster.killApplicationMaster(id);
  await kill.afterwards(id);
  const { exitCode, output } = await program.result;
  await stage.cluster.untilGone(id);
  const logs = await stage.cluster.applicationMasterLogs(id);
  if (committer === 'ours' && exitCode !== 0) {
    expect.fail(`${output.slice(-4_000)}\n${await stage.cluster.logs(id)}\n${stage.daemon.output}`);
  }
  return {
    row,
    committer,
    result: exitCode === 0 ? 'succeeded' : 'failed',
    output: await outputOf(stage, directory),
    success: (await stage.files(directory)).includes('_SUCCESS'),
    recovered: logs.reduce((sum, log) => sum + count(log, /Recovered output from task attempt/g), 0),
    masters: logs.length,
    left: await leftAtLast(stage, directory),
  };
}

function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

async function outputOf(stage: Stage, directory: string): Promise<string> {
  const rows = await stage.rows(directory);
  if (rows.length === 0) return 'none';
  const distinct = new Set(rows).size;
  if (distinct !== rows.length) return `${rows.length} rows, ${distinct} distinct`;
  return rows.length === tasks * rowsPerTask ? 'one copy' : `${rows.length} of ${tasks * rowsPerTask} rows`;
}

async function leftAtLast(stage: Stage, directory: string): Promise<string[]> {
  for (const deadline = Date.now() + 30_000; ;) {
    const left = await stage.left(directory);
    if (left.length === 0 || Date.now() > deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** When to kill, and what to do when the application master is gone. */
interface Kill {
  when(scene: Scene): Promise<unknown>;
  afterwards(job: string): Promise<void>;
}

/** Holds the data of some tasks until the application master is dead. */
function holdTasks(stage: Stage, directory: string, numbers: string): Gate {
  const key = new RegExp(`^${directory}/.*part-(m-)?0000[${numbers}]$`);
  return new Gate(stage.observer, { kind: ['initiate', 'put'], key });
}

function beforeAnyTask(stage: Stage, directory: string): Kill {
  const gate = holdTasks(stage, directory, '0123');
  return { when: async () => gate.reached, afterwards: async () => gate.open() };
}

function afterHalf(stage: Stage, directory: string): Kill {
  const gate = holdTasks(stage, directory, '23');
  return {
    when: async ({ program }) => {
      const id = await program.jobId();
      await gate.reached;
      await expect
        .poll(() => stage.cluster.tasksInHistory(id), { timeout: 120_000, interval: 200 })
        .toBeGreaterThanOrEqual(2);
    },
    afterwards: async () => gate.open(),
  };
}

/** Ours: the decision is held until the second application master is at work. v1: its first rename. */
function beforeDecision(stage: Stage, directory: string, committer: Committer): Kill {
  if (committer !== 'ours') {
    const gate = new Gate(stage.observer, { kind: 'copy', key: publishedKey(directory) });
    return { when: async () => gate.reached, afterwards: async () => gate.open() };
  }
  // Only the first: the second application master writes `superseded` to the same key.
  const key = /^\.commitbridge\/jobs\/[^/]+\/1\/decision\.json$/;
  const hold = stage.observer.holdBefore({ kind: 'put', key });
  return {
    when: async () => hold.held,
    afterwards: async (id) => {
      await untilSecondSetUp(stage, id);
      hold.release();
    },
  };
}

function halfPublished(stage: Stage, directory: string, committer: Committer): Kill {
  const kind = committer === 'ours' ? 'complete' : 'copy';
  const gate = new Gate(stage.observer, { kind, key: publishedKey(directory) }, { from: tasks / 2 + 1 });
  return {
    when: async () => gate.reached,
    // It stays half published until the successor has looked.
    afterwards: async (id) => {
      if (committer === 'ours') await untilSecondSetUp(stage, id);
      gate.open();
    },
  };
}

function afterPublication(stage: Stage, directory: string): Kill {
  const hold = stage.observer.holdAfter({ kind: 'put', key: `${directory}/_SUCCESS` });
  return { when: async () => hold.held, afterwards: async () => hold.release() };
}

function publishedKey(directory: string): RegExp {
  return new RegExp(`^${directory}/part-[^/]*$`);
}

/** Until the second application master has set the job up. */
async function untilSecondSetUp(stage: Stage, job: string): Promise<void> {
  await stage.observer.seen({ kind: 'put', key: `.commitbridge/jobs/${job}/2/job.json` });
}
