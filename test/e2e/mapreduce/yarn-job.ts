import type { Outcome } from './outcome.js';
import type { Api, Conf, Stage } from './stage.js';

/** A job, or a few, on a cluster; what goes wrong with it, and what must come of it. */
export interface YarnJob {
  readonly name: string;
  /** `npm test` has time for it. */
  readonly brief?: boolean;
  /** Returns what became of its jobs, where it compares ours with Hadoop's committer. */
  run(stage: Stage): Promise<Outcome[] | undefined>;
}

/** Map-only, with files that go up as parts. */
export const maps = (count: number, rows = 20): Conf => ({
  ...{ 'mapreduce.job.reduces': 0, 'it.maps': count, 'it.rows': rows },
  ...{ 'it.value-bytes': 2_000, 'commitbridge.inline-limit': 0 },
});

/** Of an object in the state of a job's first attempt. */
export function stateKey(job: string, name: string): string {
  return `.commitbridge/jobs/${job}/1/${name}`;
}

/** The attempts of a task that the daemon recorded. */
export function recordedAttempts(stage: Stage, job: string, task: string): number[] {
  return stage.observer
    .select({ kind: 'put', key: new RegExp(`^\\.commitbridge/jobs/${job}/1/tasks/${task}/`) })
    .map(({ key }) => Number(key.slice(key.lastIndexOf('/') + 1)));
}

export async function restOf(
  stage: Stage,
  api: Api,
  directory: string,
  tasks: number,
  rows: number,
): Promise<void> {
  await stage.expectOneCopy(directory, tasks, rows, api === 'mapred' ? '' : 'm');
  await stage.expectNothingLeft(directory);
}
