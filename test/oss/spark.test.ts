import { writeSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleJar } from '../../scripts/lib/bundle-jar.js';
import { alignTable, Stack } from '../../scripts/lib/stack.js';
import type { RequestCounts } from '../support/observer/index.js';
import { SparkRun, type SparkFormat, type SparkStep, type StepResult } from '../support/spark/index.js';

const bucket = 'spark';
const protocol = {
  'spark.sql.sources.commitProtocolClass': 'io.commitbridge.spark.BridgeCommitProtocol',
};

/** Spark writes by the shim, and reads by hadoop-aliyun, which the double has never seen from the inside. */
describe('stock Spark on oss://', { timeout: 600_000 }, () => {
  let stack: Stack;
  let spark: SparkRun;
  beforeAll(async () => {
    stack = await Stack.start(bucket, 'oss');
    spark = await SparkRun.start({
      steps: [],
      follow: true,
      ...stack.sparkStore,
      bundleJar,
      conf: {
        'spark.hadoop.commitbridge.endpoints': stack.daemon.endpoint,
        // These tests are about uploads, and files as small as theirs would travel inline.
        'spark.hadoop.commitbridge.inline-limit': '0',
        'spark.hadoop.mapreduce.outputcommitter.factory.scheme.oss': 'io.commitbridge.BridgeCommitterFactory',
        'spark.hadoop.mapred.output.committer.class': 'io.commitbridge.mapred.BridgeOutputCommitter',
        'spark.sql.sources.partitionOverwriteMode': 'static',
      },
    });
  }, 600_000);
  afterAll(async () => {
    spark.kill();
    await spark.result;
    await stack.stop();
  });

  async function well(step: SparkStep): Promise<StepResult> {
    const result = await spark.step(step);
    expect(result.error, stack.daemon.log.slice(-4_000)).toBeUndefined();
    return result;
  }

  async function expectRows(table: string, format: SparkFormat, first: number, rows: number): Promise<void> {
    const read = await well({ do: 'read', path: `${stack.uri}/${table}`, format });
    const sum = rows * first + (rows * (rows - 1)) / 2;
    expect(read).toMatchObject({ rows, distinct_ids: rows, sum_ids: sum, wrong_values: 0 });
  }

  it.each([
    ['parquet', 'spark.sql.parquet.output.committer.class', 'io.commitbridge.BridgeParquetOutputCommitter'],
    ['csv', 'spark.sql.sources.outputCommitterClass', 'io.commitbridge.BridgeOutputCommitter'],
    ['parquet', 'spark.sql.sources.commitProtocolClass', 'io.commitbridge.spark.BridgeCommitProtocol'],
  ] as const)('a partitioned %s table by %s: append twice, overwrite', async (format, key, value) => {
    const table = `tables/${format}-${value.split('.').pop() ?? ''}`;
    const write = {
      do: 'write',
      path: `${stack.uri}/${table}`,
      format,
      tasks: 2,
      partition_by: 'p',
    } as const;
    const conf = { [key]: value };
    await well({ ...write, rows: 600, conf });
    await well({ ...write, first: 600, rows: 300, conf });
    await expectRows(table, format, 0, 900);
    await well({ ...write, first: 5_000, rows: 100, mode: 'overwrite', conf });
    await expectRows(table, format, 5_000, 100);
    await stack.cleanedUp();
    expect(await stack.records()).toEqual([]);
    expect(await stack.reader.listUploads()).toEqual([]);
    expect(stack.observer.counts({ kind: 'copy', key: new RegExp(table) })).toEqual({});
  });

  it('dynamic partition overwrite by the commit protocol replaces what it writes and nothing else', async () => {
    const table = 'tables/dynamic';
    const path = `${stack.uri}/${table}`;
    const conf = { ...protocol, 'spark.sql.sources.partitionOverwriteMode': 'dynamic' };
    const write = { do: 'write', path, format: 'parquet', tasks: 2, partition_by: 'p', conf } as const;
    await well({ ...write, rows: 600, mode: 'overwrite' });
    const before = (await stack.reader.listObjects(`${table}/`)).map(({ key }) => key);
    // One partition only: p = 0.
    await well({ ...write, first: 9_000, rows: 100, partitions: 1, mode: 'overwrite' });
    const after = (await stack.reader.listObjects(`${table}/`)).map(({ key }) => key);
    const kept = before.filter((key) => /\/p=[12]\//.test(key));
    expect(kept.length).toBeGreaterThan(0);
    expect(after.filter((key) => /\/p=[12]\//.test(key))).toEqual(kept);
    expect(after.filter((key) => before.includes(key) && key.includes('/p=0/'))).toEqual([]);
    const read = await well({ do: 'read', path, format: 'parquet' });
    expect(read).toMatchObject({ rows: 500, distinct_ids: 500, wrong_values: 0 });
    expect(stack.observer.counts({ kind: 'copy', key: /tables\/dynamic/ })).toEqual({});
  });

  it('RDD writes by the two committer keys', async () => {
    const path = (name: string): string => `${stack.uri}/rdd/${name}`;
    await well({ do: 'rdd', call: 'saveAsTextFile', path: path('text'), lines: 20, tasks: 2 });
    await well({ do: 'rdd', call: 'saveAsNewAPIHadoopFile', path: path('new-api'), lines: 20, tasks: 2 });
    const keys = (await stack.reader.listObjects('rdd/')).map(({ key }) => key);
    expect(keys.filter((key) => key.includes('part-'))).toHaveLength(4);
    expect(keys.filter((key) => key.includes('_temporary'))).toEqual([]);
    expect(stack.observer.counts({ kind: 'copy', key: /^rdd/ })).toEqual({});
  });

  it('the same job by FileOutputCommitter v1 and v2 on hadoop-aliyun, and by Commitbridge', async () => {
    const [files, rows] = [20, 2_000];
    const rowsOf: Record<string, { counts: RequestCounts; seconds: number }> = {};
    const runs: [name: string, conf: Record<string, string>][] = [
      ['Commitbridge', protocol],
      ['FileOutputCommitter v1', { 'mapreduce.fileoutputcommitter.algorithm.version': '1' }],
      ['FileOutputCommitter v2', { 'mapreduce.fileoutputcommitter.algorithm.version': '2' }],
    ];
    for (const [name, conf] of runs) {
      const table = `beside/${name.replaceAll(' ', '-')}`;
      await stack.cleanedUp();
      const since = stack.observer.lastSeq;
      const path = `${stack.uri}/${table}`;
      const { seconds } = await well({ do: 'write', path, format: 'parquet', rows, tasks: files, conf });
      await stack.cleanedUp();
      rowsOf[name] = { counts: stack.observer.counts({}, since), seconds };
      expect(await stack.reader.parquetRows(table)).toEqual({ files, rows });
      await expectRows(table, 'parquet', 0, rows);
    }
    print(besideEachOther(files, rowsOf));
    const { counts } = rowsOf['Commitbridge']!;
    expect(counts).toMatchObject({ initiate: files, part: files, complete: files });
    expect(counts).not.toHaveProperty('copy');
    expect(rowsOf['FileOutputCommitter v1']!.counts.copy).toBe(2 * files);
    expect(rowsOf['FileOutputCommitter v2']!.counts.copy).toBe(files);
  });
});

function besideEachOther(
  files: number,
  runs: Record<string, { counts: RequestCounts; seconds: number }>,
): string {
  const kinds = [
    'copy',
    'initiate',
    'part',
    'complete',
    'put',
    'get',
    'head',
    'list',
    'delete',
    'delete_many',
  ] as const;
  const rows = Object.entries(runs).map(([name, { counts, seconds }]) => {
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return [
      ...[name, (all / files).toFixed(1), String(all)],
      ...kinds.map((kind) => String(counts[kind] ?? 0)),
      seconds.toFixed(1),
    ];
  });
  const header = [`${files} files on oss://`, 'a file', 'requests', ...kinds, 'seconds'];
  return `\n${alignTable([header, ...rows])}\n`;
}

/** Past vitest, which would put a heading over each line. */
function print(text: string): void {
  writeSync(2, `${text}\n`);
}
