import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { Gate } from '../spark/gate.js';
import { confOf, outcomeOf, type Committer, type Outcome } from './outcome.js';
import type { Api, Conf, Stage } from './stage.js';

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
  'mapreduce.jobhistory.jhist.format': 'json', // for the tests, which read it
};

/** A job, and when its application master dies. */
export interface Kill {
  readonly api: Api;
  readonly moment: Moment;
  readonly recovery: boolean;
  /** `npm test` has time for it. */
  readonly brief?: boolean;
}

export interface KillOutcome extends Outcome {
  readonly recovery: boolean;
  /** Tasks, as the logs of the application masters say. */
  readonly recovered: number;
  readonly masters: number;
  /** What was decided of the first job attempt; undefined for Hadoop's committer. */
  readonly decision: string | undefined;
  /** What `abortJob` of the application master met after the end, as the daemon says; undefined if it never came. */
  readonly hookFound: 'published' | undefined;
}

/** What is going on when the application master dies. */
export const moments = {
  'before any task commits': beforeAnyTask,
  'after half of the tasks': afterHalf,
  'in commitJob, before the decision': beforeDecision,
  'in commitJob, half published': halfPublished,
  'in commitJob, half published, and the daemon with it': halfPublishedAndDaemon,
  'after publication, before COMMIT_SUCCESS': afterPublication,
} as const;
export type Moment = keyof typeof moments;

/** Runs a job whose first application master is killed at that moment, and looks at what became of it. */
export async function killMaster(
  stage: Stage,
  kill: Kill,
  committer: Committer,
  directory: string,
): Promise<KillOutcome> {
  const conf = {
    ...job,
    ...confOf(committer),
    'yarn.app.mapreduce.am.job.recovery.enable': String(kill.recovery),
  };
  const program = await stage.startWrite(kill.api, directory, conf);
  const id = await program.jobId();
  const act = moments[kill.moment](stage, directory, id, committer);
  await act.when();
  await stage.cluster.killApplicationMaster(id);
  await act.afterwards();
  const { exitCode, output } = await program.result;
  await stage.cluster.untilGone(id);
  const logs = await stage.cluster.applicationMasterLogs(id);
  if (committer === 'ours' && exitCode !== 0) {
    expect.fail(`${output.slice(-4_000)}\n${await stage.cluster.logs(id)}\n${stage.daemon.output}`);
  }
  const { api, moment: what, recovery } = kill;
  const outcome = await outcomeOf(
    stage,
    { what, api, committer, directory, rows: tasks * rowsPerTask },
    exitCode,
  );
  return {
    ...outcome,
    ...{ recovery, masters: logs.length, decision: await firstDecision(stage, id) },
    recovered: logs.reduce((sum, log) => sum + count(log, /Recovered output from task attempt/g), 0),
    hookFound: stage.daemon.output.includes(
      `"message":"job aborted","job":"${id}","job_attempt":2,"published":true`,
    )
      ? 'published'
      : undefined,
  };
}

async function firstDecision(stage: Stage, job: string): Promise<string | undefined> {
  const text = (await stage.reader.getObject(`.commitbridge/jobs/${job}/1/decision.json`))?.toString();
  return text === undefined ? undefined : (JSON.parse(text) as { decision: string }).decision;
}

function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

/** When to kill, and what to do when the application master is gone. */
interface Act {
  when(): Promise<unknown>;
  afterwards(): Promise<void>;
}

/** Holds the data of some tasks until the application master is dead. */
function holdTasks(stage: Stage, directory: string, numbers: string): Gate {
  const key = new RegExp(`^${directory}/.*part-(m-)?0000[${numbers}]$`);
  return new Gate(stage.observer, { kind: ['initiate', 'put'], key });
}

function beforeAnyTask(stage: Stage, directory: string): Act {
  const gate = holdTasks(stage, directory, '0123');
  return { when: async () => gate.reached, afterwards: async () => gate.open() };
}

function afterHalf(stage: Stage, directory: string, job: string): Act {
  const gate = holdTasks(stage, directory, '23');
  return {
    when: async () => {
      await gate.reached;
      while ((await stage.cluster.tasksInHistory(job)) < 2) await sleep(200);
    },
    afterwards: async () => gate.open(),
  };
}

/** Ours: the decision is held until the second application master is at work. v1: its first rename. */
function beforeDecision(stage: Stage, directory: string, job: string, committer: Committer): Act {
  if (committer !== 'ours') {
    const gate = new Gate(stage.observer, { kind: 'copy', key: publishedKey(directory) });
    return { when: async () => gate.reached, afterwards: async () => gate.open() };
  }
  // Only the first: the second application master writes `superseded` to the same key.
  const key = `.commitbridge/jobs/${job}/1/decision.json`;
  const hold = stage.observer.holdBefore({ kind: 'put', key });
  return {
    when: async () => hold.held,
    afterwards: async () => {
      await untilSecondSetUp(stage, job);
      hold.release();
    },
  };
}

function halfPublished(stage: Stage, directory: string, job: string, committer: Committer): Act {
  const kind = committer === 'ours' ? 'complete' : 'copy';
  const gate = new Gate(stage.observer, { kind, key: publishedKey(directory) }, { from: tasks / 2 + 1 });
  return {
    when: async () => gate.reached,
    // It stays half published until the successor has looked.
    afterwards: async () => {
      if (committer === 'ours') await untilSecondSetUp(stage, job);
      gate.open();
    },
  };
}

function halfPublishedAndDaemon(stage: Stage, directory: string, job: string, committer: Committer): Act {
  const act = halfPublished(stage, directory, job, committer);
  return {
    when: act.when,
    afterwards: async () => {
      await stage.daemon.kill();
      await stage.daemon.restart();
      await act.afterwards();
    },
  };
}

function afterPublication(stage: Stage, directory: string): Act {
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
