import { expect, it } from 'vitest';
import type { RddStep, SaveStep, SparkFormat, StepConf } from '../../support/spark/index.js';
import { Gate } from '../spark/gate.js';
import { bindings, both, factory, stock, uploads } from './bindings.js';
import { Looks } from './looks.js';
import { parquet, uri, type Stage } from './stage.js';

const oddValues = `array('plain', ' ', 'a b ', '%', '%41', 'x=y', 'c:d', 's/t', '?#&+', '..', 'é', '😀', '', cast(null as string))`;
const oddRows = (tasks: number): string =>
  `select id, ${oddValues}[id % 14] as p from range(0, ${14 * tasks}, 1, ${tasks})`;
/** Characters that Hadoop's paths can have, so no colon; a trailing space ends a part of it. */
const oddDirectory = 'a%41=é /?#&+ x y/..z 😀/t b ';
const thirty = 'select id, id % 3 as p from range(0, 30, 1, 2)';

/** Each binding, and files inline and uploaded; Parquet is written in all four ways. */
const ways: [name: string, conf: StepConf][] = [
  ['protocol', bindings.protocol],
  ['committers', uploads.committers],
];
const moreWays: typeof ways = [
  ['protocol-uploads', uploads.protocol],
  ['committers-inline', bindings.committers],
];

/** Writes that leave what is there: each as stock Spark does it. */
export function writes(stage: () => Stage): void {
  const texts = async (step: Parameters<Stage['run']>[0]): Promise<string[]> =>
    (await stage().run(step)).texts ?? [];

  /** The same write by stock Spark and by bindings: equal keys, rows that are equal through s3a, true byte counts. */
  async function writesAsStock(
    name: string,
    write: Omit<SaveStep, 'do' | 'path'>,
    schema: string,
    into = name,
  ): Promise<void> {
    const { format } = write;
    const load = (directory: string): Promise<string[]> =>
      texts({ do: 'load', path: uri(directory), format, schema });

    const reference = `stock/${into}`;
    await stage().run({ do: 'save', ...write, path: uri(reference), conf: stock });
    const files = await stage().files(reference);
    const rows = await load(reference);
    for (const [binding, conf] of write.format === 'parquet' ? [...ways, ...moreWays] : ways) {
      const ours = `${binding}/${into}`;
      const since = stage().observer.lastSeq;
      const { bytes } = await stage().run({ do: 'save', ...write, path: uri(ours), conf });
      const opened = stage().observer.counts({ kind: 'initiate' }, since).initiate ?? 0;
      expect(opened, `${binding} ${name}: uploads`).toBe(
        conf === uploads.protocol || conf === uploads.committers ? files.length - 1 : 0,
      );
      expect(stage().observer.counts({}, since), `${binding} ${name}`).not.toHaveProperty('copy');
      expect(await stage().files(ours), `${binding} ${name}`).toEqual(files);
      expect(await load(ours), `${binding} ${name}`).toEqual(rows);
      expect(bytes, `${binding} ${name}: bytesWritten`).toBe(await stage().bytes(ours));
    }
    expect(files).toContain('_SUCCESS');
  }

  it.each<SparkFormat>(['parquet', 'orc', 'csv', 'json'])(
    '%s with odd partition values into an odd directory: keys and rows as stock Spark',
    async (format) => {
      const query = oddRows(format === 'parquet' ? 2 : 1);
      const write = { query, format, partition_by: 'p', mode: 'errorifexists' } as const;
      await writesAsStock(format, write, 'id long, p string', `${format} ${oddDirectory}`);
    },
  );

  it('text with gzip, with and without partitions: keys and rows as stock Spark', async () => {
    const query = `select cast(id as string) v, concat('p ', id % 2) p from range(0, 100, 1, 2)`;
    const options = { compression: 'gzip' };
    const write = { query, format: 'text', options, partition_by: 'p' } as const;
    await writesAsStock('text-parts', write, 'v string, p string');
    const plain = { format: 'text', options, query: `select v from (${query})` } as const;
    await writesAsStock('text', plain, 'v string');
    expect((await stage().files('protocol/text')).filter((file) => file.endsWith('.txt.gz'))).toHaveLength(2);
  });

  it('an empty frame, with and without partitions: keys as stock Spark', async () => {
    const query = 'select id, id % 3 as p from range(0, 10, 1, 2) where id < 0';
    const schema = 'id long, p long';
    await writesAsStock('empty', { query, format: 'parquet' }, schema);
    await writesAsStock('empty-parts', { query, format: 'parquet', partition_by: 'p' }, schema);
  });

  it('maxRecordsPerFile: keys and rows as stock Spark', async () => {
    const query = 'select id from range(0, 100, 1, 2)';
    const options = { maxRecordsPerFile: '10' };
    await writesAsStock('max', { query, format: 'json', options }, 'id long');
    expect(await stage().files('protocol/max')).toHaveLength(11);
  });

  it('bucketBy with saveAsTable, then overwriting the table: keys and rows as stock Spark', async () => {
    const query = 'select id, id % 5 k from range(0, 50, 1, 2)';
    const table = { query, format: 'parquet', buckets: 3, bucket_by: 'k', mode: 'overwrite' } as const;
    const save = async (name: string, conf: SaveStep['conf'] = {}): Promise<unknown> =>
      stage().run({ do: 'save', ...table, path: uri(`${name}/buckets`), table: `b_${name}`, conf });
    await save('stock', stock);
    const rows = await stage().sql('select * from b_stock');
    expect(rows).toHaveLength(50);
    for (const binding of both) {
      for (let times = 0; times < 2; times++) await save(binding, bindings[binding]);
      expect(await stage().files(`${binding}/buckets`)).toEqual(await stage().files('stock/buckets'));
      expect(await stage().sql(`select * from b_${binding}`)).toEqual(rows);
    }
  });

  it('append, errorIfExists, INSERT OVERWRITE DIRECTORY: keys and rows as stock Spark', async () => {
    const write = async (name: string, conf: SaveStep['conf'] = {}): Promise<string[]> => {
      const save = {
        do: 'save',
        query: thirty,
        format: 'parquet',
        path: uri(`${name}/modes`),
        conf,
      } as const;
      await stage().run(save);
      await stage().run(save);
      expect(await stage().sql(`select count(*) from ${parquet(`${name}/modes`)}`)).toEqual(['[60]']);
      expect(await stage().fails({ ...save, mode: 'errorifexists' })).toMatch(/already exists/);

      const directory = `${name}/directory`;
      const insert = `insert overwrite directory '${uri(directory)}' using csv select id from range(0, 7, 1, 2)`;
      await stage().run({ do: 'sql', statements: [insert, insert], conf });
      const rows = await texts({ do: 'load', path: uri(directory), format: 'csv', schema: 'id long' });
      return [...(await stage().files(`${name}/modes`)), ...(await stage().files(directory)), ...rows];
    };
    const reference = await write('stock', stock);
    for (const binding of both) expect(await write(binding, bindings[binding])).toEqual(reference);
  });

  it('INSERT into static and dynamic partitions of a table: keys and rows as stock Spark', async () => {
    const fill = async (name: string, conf: Record<string, string>): Promise<string[]> => {
      await stage().run({
        do: 'sql',
        conf,
        statements: [
          `create table i_${name} (id long, p int, q string) using parquet partitioned by (p, q) location '${uri(`${name}/insert`)}'`,
          `insert into i_${name} partition (p = 1, q) select id, concat('q ', id % 2) from range(0, 10, 1, 2)`,
          `insert into i_${name} partition (p = 2, q = 'z%') select id from range(10, 15, 1, 2)`,
          `insert into i_${name} select id, 3, 'c' from range(20, 24, 1, 2)`,
          `insert overwrite table i_${name} partition (p = 1, q) select id, 'q9' from range(50, 51, 1, 1)`,
        ],
      });
      const rows = await stage().sql(`select * from i_${name}`);
      expect(rows).toHaveLength(10);
      return [...(await stage().files(`${name}/insert`)), ...rows];
    };
    const reference = await fill('stock', stock);
    for (const binding of both) expect(await fill(binding, bindings[binding])).toEqual(reference);
  });

  it.each(both)('%s: at every step an independent client sees nothing before the commit', async (binding) => {
    const directory = `${binding}/steps`;
    const looks = new Looks(stage(), directory);
    const write = { query: thirty, format: 'parquet', partition_by: 'p', path: uri(directory) } as const;
    await stage().run({ do: 'save', ...write, conf: uploads[binding] });
    looks.end();

    const steps = ['put job', 'initiate', 'part', 'put tasks', 'put plan', 'put decision', 'complete'];
    expect([...looks.steps]).toEqual(expect.arrayContaining(steps));
    expect(looks.seen.filter((files) => files.length > 0)).toEqual([]);
    expect(await stage().parquetIds(directory)).toHaveLength(30);
  });

  it.each(both)('%s: two appends to one table at the same time', async (binding) => {
    const directory = `${binding}/appends`;
    const gate = new Gate(stage().observer, { kind: 'complete', key: new RegExp(`^${directory}/`) });
    const done = [0, 100].map(async (first) =>
      stage().run({
        ...{ do: 'save', format: 'parquet', partition_by: 'p', path: uri(directory) },
        query: `select id, id % 3 p from range(${first}, ${first + 30}, 1, 2)`,
        conf: uploads[binding],
      }),
    );
    // The first to get there waits for the other: both are in the midst of their commits.
    const commits = (): number =>
      new Set(gate.held.map(({ key }) => /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(key)?.[0])).size;
    while (commits() < 2)
      await Promise.race([new Promise((next) => setTimeout(next, 50)), Promise.all(done)]);
    expect(await stage().files(directory)).toEqual([]);
    gate.open();
    await Promise.all(done);

    const ids = [...range(0, 30), ...range(100, 130)].map((id) => `p=${id % 3}/${id}`);
    expect(await stage().parquetIds(directory)).toEqual(ids.sort());
    expect(await stage().files(directory)).toHaveLength(13);
  });

  it('twenty jobs of one application at once, on one table and on many, by both bindings', async () => {
    const write = async (n: number): Promise<unknown> =>
      stage().run({
        ...{ do: 'save', format: 'parquet', partition_by: 'p' },
        query: `select id, id % 4 p from range(${n * 100}, ${n * 100 + 100}, 1, 2)`,
        path: uri(n % 2 === 0 ? 'threads/one' : `threads/many/n=${n}`),
        conf: bindings[n % 4 < 2 ? 'protocol' : 'committers'],
      });
    await Promise.all(Array.from({ length: 20 }, (_, n) => write(n)));

    const counts = 'select count(*), count(distinct id)';
    expect(await stage().sql(`${counts} from ${parquet('threads/one')}`)).toEqual(['[1000,1000]']);
    const wrong = `select n from ${parquet('threads/many')} group by n having count(distinct id) <> 100 or count(*) <> 100 or min(id) <> n * 100`;
    expect(await stage().sql(wrong)).toEqual([]);
    expect(await stage().sql(`select count(distinct n) from ${parquet('threads/many')}`)).toEqual(['[10]']);
  });

  it('DataSource V2: appending to CSV files: keys and rows as stock Spark', async () => {
    const write = async (name: string, conf: SaveStep['conf'] = {}): Promise<string[]> => {
      const directory = `${name}/v2`;
      const path = uri(directory);
      await stage().run({
        do: 'save',
        query: 'select id from range(0, 10, 1, 2)',
        format: 'csv',
        path,
        conf,
      });
      const [before, since] = [await stage().bytes(directory), stage().observer.lastSeq];
      const query = 'select id from range(10, 20, 1, 2)';
      const { bytes } = await stage().run({ do: 'v2', query, path, conf });
      expect(bytes, `${name}: bytesWritten`).toBe((await stage().bytes(directory)) - before);
      if (name !== 'stock') expect(stage().observer.counts({}, since)).not.toHaveProperty('copy');
      const rows = await texts({ do: 'load', path, format: 'csv', schema: 'id long' });
      expect(rows).toHaveLength(20);
      return [...(await stage().files(directory)), ...rows];
    };
    const reference = await write('stock', stock);
    for (const binding of both) expect(await write(binding, bindings[binding])).toEqual(reference);
  });

  const oldApi = (name: string): Record<string, string> => ({ 'mapred.output.committer.class': name });
  it.each<[RddStep['call'], Record<string, string>, Record<string, string>]>([
    [
      'saveAsHadoopFile',
      oldApi('io.commitbridge.mapred.BridgeOutputCommitter'),
      oldApi('org.apache.hadoop.mapred.FileOutputCommitter'),
    ],
    ['saveAsNewAPIHadoopFile', factory, {}],
    ['saveAsNewAPIHadoopDataset', factory, {}],
  ])('RDD: %s: keys and rows as stock Spark', async (call, ours, theirs) => {
    const write = { do: 'rdd', call, lines: 200, tasks: 2 } as const;
    const load = (directory: string): Promise<string[]> =>
      texts({ do: 'load', path: uri(directory), format: 'text', schema: 'v string' });
    await stage().run({ ...write, path: uri(`stock/${call}`), hadoop: theirs });
    const since = stage().observer.lastSeq;
    const looks = new Looks(stage(), `ours/${call}`);
    const { bytes = 0 } = await stage().run({ ...write, path: uri(`ours/${call}`), hadoop: ours });
    looks.end();

    expect(looks.seen.filter((files) => files.length > 0)).toEqual([]);
    expect(stage().observer.counts({}, since)).not.toHaveProperty('copy');
    expect(await stage().files(`ours/${call}`)).toEqual(await stage().files(`stock/${call}`));
    expect(await load(`ours/${call}`)).toEqual(await load(`stock/${call}`));
    const written = await stage().bytes(`ours/${call}`);
    expect(Math.abs(bytes - written) / written, `${bytes} of ${written} bytes`).toBeLessThan(0.01);
  });

  it('RDD: saveAsTextFile by the application’s configuration', async () => {
    const since = stage().observer.lastSeq;
    const path = uri('ours/saveAsTextFile');
    await stage().run({ do: 'rdd', call: 'saveAsTextFile', lines: 200, tasks: 2, path });

    expect(stage().observer.counts({}, since)).not.toHaveProperty('copy');
    expect(await stage().sql(`select count(*) from text.\`${path}\``)).toEqual(['[200]']);
  });
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}
