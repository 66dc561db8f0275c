import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSpark, type WriteStep } from '../../support/spark/index.js';
import { Gate } from './gate.js';
import { root, Stage } from './stage.js';

const rows = 600;
const files = 6;
const tables = ['decided/abort', 'decided/commit', 'published/abort', 'published/commit', 'writing'];
/** Files that are visible when the driver dies in the middle of a publication. */
const published = 2;

const decisionPut = { kind: 'put', key: /\/decision\.json$/ } as const;

/**
 * Five jobs of one driver, each stopped at a request of its own at the store; then the driver is killed with its
 * executors. What its daemon was doing goes on when the requests are let go: it doesn't know that nobody waits.
 */
describe('the driver is killed with -9', { timeout: 300_000 }, () => {
  let stage: Stage;
  let tokens: Map<string, string>;
  let atPlan: Gate;
  let atDecision: Gate;
  const atCompletes = new Map<string, Gate>();

  beforeAll(async () => {
    stage = await Stage.start();
    const { observer } = stage;
    const start = async (table: string, gate: Gate, step: Partial<WriteStep> = {}): Promise<void> => {
      const written = stage.write(table, step).then(({ error }) => {
        throw new Error(`the job to ${table} ended by itself: ${error ?? 'it succeeded'}`);
      });
      written.catch(() => undefined); // it is to be killed
      await Promise.race([gate.reached, written]);
    };

    atPlan = new Gate(observer, { kind: 'put', key: /\/plan-/ }, { sameKey: true });
    await start('decided/abort', atPlan);
    atDecision = new Gate(observer, decisionPut, { sameKey: true });
    await start('decided/commit', atDecision, { first: rows });
    for (const table of ['published/abort', 'published/commit']) {
      const match = { kind: 'complete', key: new RegExp(`^warehouse/${table}/`) } as const;
      const gate = new Gate(observer, match, { from: published + 1 });
      atCompletes.set(table, gate);
      await start(table, gate, { first: 2 * rows });
      while ((await stage.visible(table)).length < published) await sleep(50);
    }
    // Last, since its tasks keep the executors busy.
    const since = observer.lastSeq;
    const atPart = new Gate(observer, { kind: 'part', key: /^warehouse\/writing\// }, { from: 2 });
    await start('writing', atPart);
    await observer.seen({ kind: 'put', key: /\/opened\// }, since);

    tokens = await jobTokens(stage);
    expect([...tokens.keys()].sort(), 'tables of jobs').toEqual(tables);
    stage.spark.kill();
    await stage.spark.result;
    atPart.drop();
  }, 300_000);
  afterAll(async () => {
    await stage.stop();
  });

  async function jobs(action: 'abort' | 'commit', table: string): Promise<void> {
    const { code, output } = await stage.daemon.command(
      'jobs',
      action,
      tokens.get(table) ?? 'none',
      '--json',
    );
    expect(code, output).toBe(0);
  }

  /** Open uploads, records and ledger segments of one job. */
  async function leftOf(table: string): Promise<string[]> {
    const state = (await stage.left()).filter((line) => line.includes(`/${tokens.get(table) ?? 'none'}/`));
    return [...state, ...(await stage.openUploads(table))];
  }

  async function expectNothing(table: string): Promise<void> {
    expect(await stage.visible(table)).toEqual([]);
    await expect.poll(() => leftOf(table), { timeout: 30_000 }).toEqual([]);
  }

  it('nothing is visible of what was undecided, and of what was decided a part', async () => {
    for (const table of ['decided/abort', 'decided/commit', 'writing']) {
      expect(await stage.visible(table)).toEqual([]);
      expect(await leftOf(table)).not.toEqual([]);
    }
    for (const table of atCompletes.keys()) {
      expect(await stage.visible(table)).toHaveLength(published);
      expect(await stage.openUploads(table)).toHaveLength(files - published);
    }
  });

  it('all tasks committed, jobs abort: nothing is visible or left, also when the daemon goes on', async () => {
    await jobs('abort', 'decided/abort');
    await expectNothing('decided/abort');

    const since = stage.observer.lastSeq;
    atPlan.open();
    const late = await stage.observer.seen(decisionPut, since);
    await expect.poll(() => late.status).toBe(412);
    await expectNothing('decided/abort');
  });

  it('half published, jobs abort: nothing is visible or left, also when the daemon goes on', async () => {
    await jobs('abort', 'published/abort');
    await expectNothing('published/abort');

    const gate = atCompletes.get('published/abort');
    gate?.open();
    await gate?.settled();
    await expectNothing('published/abort');
  });

  it('tasks were writing, jobs abort: nothing is visible or left, though the daemon died as well', async () => {
    await stage.daemon.kill();
    atDecision.drop();
    atCompletes.get('published/commit')?.drop();
    await jobs('abort', 'writing');
    await expectNothing('writing');
  });

  it('all tasks committed, or half published, jobs commit: all rows are there', async () => {
    for (const table of ['decided/commit', 'published/commit']) {
      await jobs('commit', table);
      expect(await stage.visible(table)).toHaveLength(files + 1); // and _SUCCESS
    }
    const { steps } = await runSpark({
      steps: ['decided/commit', 'published/commit'].map((table) => ({
        ...{ do: 'read', format: 'parquet', path: `${root}/${table}` },
      })),
      s3: stage.access,
      master: 'local[2]',
    });
    const all = { rows, distinct_ids: rows, wrong_values: 0 };
    const sum = (rows * (rows - 1)) / 2;
    expect(steps).toMatchObject([
      { ...all, sum_ids: sum + rows * rows },
      { ...all, sum_ids: sum + 2 * rows * rows },
    ]);
    await stage.daemon.restart();
    await stage.expectNothingLeft();
  });
});

/** Tokens by table, as `jobs list` gives them. */
async function jobTokens(stage: Stage): Promise<Map<string, string>> {
  const { code, output } = await stage.daemon.command('jobs', 'list', '--json');
  expect(code, output).toBe(0);
  const listed = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { token: string; destination: string });
  return new Map(
    listed.map(({ token, destination }) => [destination.replace(/^s3a?:.*?\/warehouse\//, ''), token]),
  );
}
