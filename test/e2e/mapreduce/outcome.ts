import { setTimeout as sleep } from 'node:timers/promises';
import { fileOutputCommitter, type Api, type Conf, type Stage } from './stage.js';

export const committers = { ours: {}, 'FileOutputCommitter v1': fileOutputCommitter } as const;
export type Committer = keyof typeof committers;
export const bothCommitters = Object.keys(committers) as Committer[];

/** What became of a job that something happened to, for the table that says it of both committers. */
export interface Outcome {
  readonly what: string;
  readonly api: Api;
  readonly committer: Committer;
  readonly result: 'succeeded' | 'failed';
  /** `one copy`, `none`, or what is there of the rows. */
  readonly output: string;
  readonly success: boolean;
  readonly left: readonly string[];
}

export interface Incident {
  readonly what: string;
  readonly api: Api;
  readonly committer: Committer;
  readonly directory: string;
  /** That the job writes. */
  readonly rows: number;
}

/** What a reader finds when the job and all that belongs to it has ended, and nothing is cleaned up any more. */
export async function outcomeOf(
  stage: Stage,
  { what, api, committer, directory, rows }: Incident,
  exitCode: number | null,
): Promise<Outcome> {
  return {
    ...{ what, api, committer, result: exitCode === 0 ? 'succeeded' : 'failed' },
    output: describeRows(await stage.rows(directory), rows),
    success: (await stage.files(directory)).includes('_SUCCESS'),
    left: await leftAtLast(stage, directory, committer),
  };
}

export function confOf(committer: Committer): Conf {
  return committers[committer];
}

function describeRows(rows: readonly number[], expected: number): string {
  if (rows.length === 0) return 'none';
  const distinct = new Set(rows).size;
  if (distinct !== rows.length) return `${rows.length} rows, ${distinct} distinct`;
  return rows.length === expected ? 'one copy' : `${rows.length} of ${expected} rows`;
}

/** Hadoop's committer has no cleanup that could still come. */
async function leftAtLast(stage: Stage, directory: string, committer: Committer): Promise<string[]> {
  for (const deadline = Date.now() + (committer === 'ours' ? 60_000 : 0); ;) {
    const left = await stage.left(directory);
    if (left.length === 0 || Date.now() > deadline) return left;
    await sleep(500);
  }
}
