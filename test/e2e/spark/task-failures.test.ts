import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Gate } from './gate.js';
import { faultyCommitters, Stage, type TableWrite } from './stage.js';

const rows = { first: 0, rows: 600 };

/** Fails one task in the committer; see `CommitterFault` in `java-shim/it`. */
function committerFault(fault: {
  where: 'after-close' | 'before-commit' | 'after-commit';
  how?: 'io' | 'runtime' | 'kill';
}): TableWrite {
  const conf = {
    ...faultyCommitters,
    'commitbridge.test.fault': fault.where,
    'commitbridge.test.fault.task': '1',
    'commitbridge.test.fault.how': fault.how ?? 'io',
  };
  return { conf };
}

/** 19 MiB a task: its first part is sent before its middle. */
const large = { format: 'csv', value_bytes: 64 * 1024, partitioned: false } as const;

describe('tasks fail in stock Spark', { timeout: 300_000 }, () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.start();
  }, 300_000);
  afterAll(async () => {
    await stage.stop();
  });

  it.each<[name: string, step: TableWrite]>([
    // Files are as large as to be half sent when the task fails.
    ['before close, a row throws', { ...large, fault: { task: 1 } }],
    ['before close, the executor is killed', { ...large, fault: { task: 1, how: 'kill' } }],
    ['after close', committerFault({ where: 'after-close' })],
    ['after close, the executor is killed', committerFault({ where: 'after-close', how: 'kill' })],
    ['in commitTask, nothing sent', committerFault({ where: 'before-commit' })],
    ['in commitTask, the reply is lost', committerFault({ where: 'after-commit' })],
    [
      'in commitTask, the reply is lost, no IOException',
      committerFault({ where: 'after-commit', how: 'runtime' }),
    ],
    [
      'in commitTask, the executor is killed with its record put',
      committerFault({ where: 'after-commit', how: 'kill' }),
    ],
  ])('%s: the retry is published, each row once', async (name, step) => {
    const table = `failures/${name.replace(/\W+/g, '-')}`;
    const format = step.format ?? (name.includes('is killed') ? 'csv' : 'parquet');
    const files = step.partitioned === false ? 2 : 6;
    const since = stage.observer.lastSeq;
    await stage.writeWell(table, { ...step, format });

    const opened = stage.observer.counts({ kind: 'initiate' }, since).initiate ?? 0;
    expect(opened, 'files of the attempt that failed').toBeGreaterThan(files);
    expect((await stage.visible(table)).filter((path) => path !== '_SUCCESS')).toHaveLength(files);
    await stage.expectRows(table, { format, value_bytes: step.value_bytes ?? 16 }, rows);
    await stage.expectNothingLeft();
  });

  it('an executor is killed while it sends a part', async () => {
    const table = 'failures/killed-executor';
    const since = stage.observer.lastSeq;
    const gate = new Gate(stage.observer, { kind: 'part' });
    const written = stage.writeWell(table);
    await stage.observer.seen({ kind: 'part', nth: 2 }, since); // each executor has its task
    const [executor] = await stage.spark.executorPids();
    stage.spark.killExecutor(executor ?? NaN);
    gate.open();
    await written;

    expect(await stage.spark.executorPids()).not.toContain(executor);
    await stage.expectRows(table, { format: 'parquet' }, rows);
    await stage.expectNothingLeft();
  });

  it('all attempts of a task fail: the job fails, and nothing of it is seen or left', async () => {
    const table = 'failures/for-good';
    const { ok, error } = await stage.write(table, { fault: { task: 1, attempts: 99 } });

    expect(ok).toBe(false);
    expect(error).toContain('injected fault: task 1, attempt 3');
    expect(await stage.visible(table)).toEqual([]);
    await stage.expectNothingLeft();
    expect(await stage.visible(table)).toEqual([]);

    await stage.writeWell(table);
    await stage.expectRows(table, { format: 'parquet' }, rows);
  });
});
