import { expect, it } from 'vitest';
import type { StepConf, WriteStep } from '../../support/spark/index.js';
import { Gate } from '../spark/gate.js';
import { bindings, both, uploaded, uploads, type Binding } from './bindings.js';
import { driversBucket, parquet, uri, type Stage } from './stage.js';

const write: Omit<WriteStep, 'path'> = {
  ...{ do: 'write', rows: 60, tasks: 2, format: 'parquet', partition_by: 'p' },
};
const ids = Array.from({ length: 60 }, (_, id) => `p=${id % 3}/${id}`).sort();

/** The classes that kill their executor where `commitbridge.test.fault` says, see `CommitterFault` in `java-shim/it`. */
const faulty: Record<Binding, StepConf> = {
  protocol: { 'spark.sql.sources.commitProtocolClass': 'io.commitbridge.it.bridge.FaultyCommitProtocol' },
  committers: {
    ...bindings.committers,
    'spark.sql.parquet.output.committer.class': 'io.commitbridge.it.bridge.FaultyParquetOutputCommitter',
  },
};
const kill = { 'commitbridge.test.fault.how': 'kill', 'commitbridge.test.fault.task': '1' };

/** Executors that die with -9, and executors that can't get at the store. */
export function executors(stage: () => Stage): void {
  /** All rows once, in the files of one attempt a task; nothing else is left. */
  async function expectWhole(directory: string): Promise<void> {
    expect(await stage().parquetIds(directory)).toEqual(ids);
    expect(await stage().files(directory)).toHaveLength(7);
    await expect.poll(() => stage().openUploads(directory), { timeout: 60_000 }).toBe(0);
  }

  it.each(both)('%s: an executor is killed while it writes: each row once', async (binding) => {
    const directory = `${binding}/killed-writing`;
    const since = stage().observer.lastSeq;
    // 19 MiB a task: its first part, of 8, is sent before its middle.
    const large = { format: 'csv', rows: 600, tasks: 2, value_bytes: 64 * 1024 } as const;
    const path = uri(directory);
    const fault = { task: 1, how: 'kill' } as const;
    await stage().run({ do: 'write', ...large, path, fault, conf: bindings[binding] });

    const opened = stage().observer.counts({ kind: 'initiate' }, since).initiate;
    expect(opened, 'files of the attempt that died').toBe(3);
    expect(await stage().files(directory)).toHaveLength(3);
    const read = await stage().run({ do: 'read', ...large, path });
    expect(read).toMatchObject({ rows: 600, distinct_ids: 600, wrong_values: 0 });
    await expect.poll(() => stage().openUploads(directory), { timeout: 60_000 }).toBe(0);
  });

  it.each(both)('%s: the executors are killed in commitTask: each row once', async (binding) => {
    const directory = `${binding}/killed-in-commit`;
    const spark = stage().spark;
    const gate = new Gate(stage().observer, { kind: 'put', key: /\/tasks\// });
    const written = stage().run({ ...write, path: uri(directory), conf: uploads[binding] });
    await Promise.race([gate.reached, written]);
    const pids = await spark.executorPids();
    for (const pid of pids) spark.killExecutor(pid);
    gate.open(); // the dead attempts' records come all the same
    await written;

    expect(pids.length).toBeGreaterThan(0);
    expect((await spark.executorPids()).filter((pid) => pids.includes(pid))).toEqual([]);
    await expectWhole(directory);
  });

  it.each(both)('%s: an executor is killed after commitTask: each row once', async (binding) => {
    const directory = `${binding}/killed-after-commit`;
    const since = stage().observer.lastSeq;
    const conf = { ...faulty[binding], ...uploaded, ...kill, 'commitbridge.test.fault': 'after-commit' };
    await stage().run({ ...write, path: uri(directory), conf });

    await expectWhole(directory);
    expect(stage().observer.select({ kind: 'put', key: /\/tasks\// }, since).length).toBeGreaterThan(2);
  });

  it.each(both)('%s: executors without credentials for the store write all the same', async (binding) => {
    const path = `s3a://${driversBucket}/${binding}`;
    const conf = bindings[binding];
    for (const format of ['parquet', 'orc', 'csv', 'json'] as const) {
      await stage().run({ ...write, format, path: `${path}/${format}`, conf });
      expect(await stage().files(`${binding}/${format}`, driversBucket)).toHaveLength(7);
    }
    // They can't do it otherwise: reading needs credentials where the tasks run.
    const schema = 'id long, value string, p long';
    const read = { do: 'load', path: `${path}/csv`, format: 'csv', schema } as const;
    expect(await stage().fails(read)).toMatch(/credentials/i);
  });

  it('executors that were killed have come back', async () => {
    expect(await stage().sql(`select count(*) from ${parquet('protocol/killed-in-commit')}`)).toEqual([
      '[60]',
    ]);
  });
}
