import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RddStep, SaveStep, SparkFormat } from '../../support/spark/index.js';
import { Gate } from '../spark/gate.js';
import { bindings, stock, uploaded } from './bindings.js';
import { bucket, otherBucket, Stage } from './stage.js';
import { nameOf, versions } from './versions.js';

type Binding = keyof typeof bindings;
const both: Binding[] = ['protocol', 'committers'];

const oddValues = `array('plain', ' ', 'a b ', '%', '%41', 'x=y', 'c:d', 's/t', '?#&+', '..', 'é', '😀', '', cast(null as string))`;
const oddRows = `select id, ${oddValues}[id % 14] as p from range(0, 42, 1, 2)`;
const thirty = 'select id, id % 3 as p from range(0, 30, 1, 2)';
const three = 'select id, 1L as p from range(100, 103, 1, 2)';

function ids(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `[${from + i}]`).sort();
}

// Each version is one application: what it costs is to start it.
describe.each(versions().map((version) => [nameOf(version), version] as const))(
  'stock Spark %s',
  { timeout: 600_000 },
  (_name, version) => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await Stage.start(version);
    }, 600_000);
    afterAll(async () => {
      await stage.stop();
    });

    const uri = (directory: string): string => `s3a://${bucket}/${directory}`;
    const parquet = (directory: string): string => `parquet.\`${uri(directory)}\``;

    /** The same write by stock Spark and by bindings: equal keys, rows that are equal through s3a, true byte counts. */
    async function writesAsStock(
      name: string,
      write: Omit<SaveStep, 'do' | 'path'>,
      schema: string,
      { by = both, into = name } = {},
    ): Promise<void> {
      const { format } = write;
      const load = async (directory: string): Promise<string[]> =>
        (await stage.run({ do: 'load', path: uri(directory), format, schema })).texts ?? [];

      const reference = `stock/${into}`;
      await stage.run({ do: 'save', ...write, path: uri(reference), conf: stock });
      const files = await stage.files(reference);
      const rows = await load(reference);
      for (const binding of by) {
        const ours = `${binding}/${into}`;
        const { bytes } = await stage.run({
          ...{ do: 'save', ...write, path: uri(ours), conf: bindings[binding] },
        });
        expect(await stage.files(ours), `${binding} ${name}`).toEqual(files);
        expect(await load(ours), `${binding} ${name}`).toEqual(rows);
        expect(bytes, `${binding} ${name}: bytesWritten`).toBe(await stage.bytes(ours));
      }
      expect(files).toContain('_SUCCESS');
    }

    it.each<SparkFormat>(['parquet', 'orc', 'csv', 'json'])(
      '%s with odd partition values into an odd directory: keys and rows as stock Spark',
      async (format) => {
        const write = { query: oddRows, format, partition_by: 'p', mode: 'errorifexists' } as const;
        await writesAsStock(format, write, 'id long, p string', { into: `${format} a%41=é/t b` });
      },
    );

    it('text with gzip: keys and rows as stock Spark', async () => {
      const query = 'select cast(id as string) v from range(0, 100, 1, 2)';
      const options = { compression: 'gzip' };
      await writesAsStock('text', { query, format: 'text', options }, 'v string');
    });

    it('an empty frame, with and without partitions: keys as stock Spark', async () => {
      const query = 'select id, id % 3 as p from range(0, 10, 1, 2) where id < 0';
      const schema = 'id long, p long';
      await writesAsStock('empty', { query, format: 'parquet' }, schema);
      await writesAsStock('empty-parts', { query, format: 'parquet', partition_by: 'p' }, schema, {
        by: ['protocol'],
      });
    });

    it('maxRecordsPerFile: keys and rows as stock Spark', async () => {
      const query = 'select id from range(0, 100, 1, 2)';
      const options = { maxRecordsPerFile: '10' };
      await writesAsStock('max', { query, format: 'json', options }, 'id long');
      expect(await stage.files('protocol/max')).toHaveLength(11);
    });

    it('bucketBy with saveAsTable, then overwriting the table: keys as stock Spark, rows once', async () => {
      const query = 'select id, id % 5 k from range(0, 50, 1, 2)';
      const table = { query, format: 'parquet', buckets: 3, bucket_by: 'k', mode: 'overwrite' } as const;
      await stage.run({
        ...{ do: 'save', ...table, path: uri('stock/buckets'), table: 'b_stock', conf: stock },
      });
      for (const binding of both) {
        for (let times = 0; times < 2; times++) {
          const path = uri(`${binding}/buckets`);
          await stage.run({
            ...{ do: 'save', ...table, path, table: `b_${binding}`, conf: bindings[binding] },
          });
        }
        expect(await stage.files(`${binding}/buckets`)).toEqual(await stage.files('stock/buckets'));
        expect(await stage.sql(`select count(*), count(distinct id) from b_${binding}`)).toEqual(['[50,50]']);
      }
    });

    it('append, errorIfExists, INSERT OVERWRITE DIRECTORY', async () => {
      for (const binding of both) {
        const conf = bindings[binding];
        const path = uri(`${binding}/modes`);
        const write = { do: 'save', query: thirty, format: 'parquet', path, conf } as const;
        await stage.run(write);
        await stage.run(write);
        expect(await stage.sql(`select count(*) from ${parquet(`${binding}/modes`)}`)).toEqual(['[60]']);
        expect(await stage.fails({ ...write, mode: 'errorifexists' })).toMatch(/already exists/);

        const directory = `${binding}/directory`;
        const insert = `insert overwrite directory '${uri(directory)}' using csv select id from range(0, 7, 1, 2)`;
        await stage.run({ do: 'sql', statements: [insert, insert], conf });
        expect(await stage.files(directory)).toHaveLength(3);
      }
    });

    it('INSERT into static and dynamic partitions of a table: keys as stock Spark', async () => {
      const fill = async (name: string, conf: Record<string, string>): Promise<string[]> => {
        await stage.run({
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
        expect(await stage.sql(`select count(*), sum(id) from i_${name}`)).toEqual(['[10,196]']);
        return stage.files(`${name}/insert`);
      };
      const reference = await fill('stock', stock);
      for (const binding of both) expect(await fill(binding, bindings[binding])).toEqual(reference);
    });

    it('nothing is visible before the commit, and what an overwrite replaces stays until then', async () => {
      for (const binding of both) {
        const directory = `${binding}/before`;
        const write = { query: thirty, format: 'parquet', path: uri(directory) } as const;
        let seen: string[] = [];
        for (const mode of ['append', 'overwrite'] as const) {
          const gate = new Gate(stage.observer, { kind: 'complete' });
          const conf = { ...bindings[binding], ...uploaded };
          const written = stage.run({ do: 'save', ...write, mode, conf });
          await Promise.race([gate.reached, written]);
          expect(await stage.openUploads(directory)).toBe(2);
          const visible = await stage.files(directory);
          gate.open();
          await written;
          // Under its own protocol, Spark deletes what is overwritten before it sets the job up.
          expect(visible).toEqual(binding === 'protocol' ? seen : []);
          seen = (await stage.files(directory)).filter((file) => file !== '_SUCCESS');
        }
        expect(await stage.sql(`select count(*) from ${parquet(directory)}`)).toEqual(['[30]']);
      }
    });

    it('dynamic partition overwrite: only touched partitions are replaced, without a copy', async () => {
      const directory = 'protocol/dynamic';
      const write = { do: 'save', format: 'parquet', path: uri(directory), partition_by: 'p' } as const;
      await stage.run({ ...write, query: thirty });
      const before = await stage.files(directory);
      const since = stage.observer.lastSeq;
      const options = { partitionOverwriteMode: 'dynamic' };
      await stage.run({ ...write, query: three, mode: 'overwrite', options });

      expect(stage.observer.counts({}, since)).not.toHaveProperty('copy');
      expect(await stage.sql(`select id from ${parquet(directory)} where p = 1`)).toEqual(ids(100, 103));
      expect(await stage.sql(`select count(*) from ${parquet(directory)}`)).toEqual(['[23]']);
      const after = await stage.files(directory);
      const untouched = (files: string[]): string[] => files.filter((file) => !file.startsWith('p=1/'));
      expect(untouched(after)).toEqual(untouched(before));
      expect(after).toContain('_SUCCESS');
    });

    it('dynamic partition overwrite by the committer classes is refused, and nothing is lost', async () => {
      const directory = 'committers/dynamic';
      const conf = bindings.committers;
      const write = { do: 'save', format: 'parquet', path: uri(directory), partition_by: 'p', conf } as const;
      await stage.run({ ...write, query: thirty });
      const options = { partitionOverwriteMode: 'dynamic' };
      const error = await stage.fails({ ...write, query: three, mode: 'overwrite', options });

      expect(error).toContain('io.commitbridge.spark.BridgeCommitProtocol');
      expect(await stage.sql(`select count(*) from ${parquet(directory)}`)).toEqual(['[30]']);
    });

    it('overwriting the own input, and an overwrite that fails: old rows stay until the commit', async () => {
      const directory = 'protocol/self';
      const write = { do: 'save', format: 'parquet', path: uri(directory), mode: 'overwrite' } as const;
      await stage.run({ ...write, query: thirty });
      await stage.run({ ...write, query: `select * from ${parquet(directory)} where id < 10` });
      expect(await stage.sql(`select id from ${parquet(directory)}`)).toEqual(ids(0, 10));

      const failing = `select if(id = 15, raise_error('on purpose'), 'a') v, id from range(0, 30, 1, 2)`;
      expect(await stage.fails({ ...write, query: failing })).toContain('on purpose');
      expect(await stage.sql(`select id from ${parquet(directory)}`)).toEqual(ids(0, 10));
    });

    it('a table with partitions at locations of their own, also in another bucket', async () => {
      await stage.sql(
        `create table t (id long, p int, q string) using parquet partitioned by (p, q) location '${uri('protocol/custom')}'`,
        "insert into t partition (p = 2, q = 'z') select id from range(10, 15, 1, 2)",
        "alter table t add partition (p = 3, q = 'c')",
        `alter table t partition (p = 3, q = 'c') set location 's3a://${otherBucket}/custom/c d'`,
        "insert into t select id, 3, 'c' from range(20, 24, 1, 2)",
        `alter table t add partition (p = 4, q = 'c') location '${uri('elsewhere/c d')}'`,
        "insert into t select id, 4, 'c' from range(20, 24, 1, 2)",
      );
      expect(await stage.files('custom/c d', otherBucket)).not.toEqual([]);
      expect(await stage.files('elsewhere/c d')).not.toEqual([]);
      expect(await stage.sql('select count(*) from t')).toEqual(['[13]']);

      await stage.sql(
        "insert overwrite table t partition (p = 4, q = 'c') select id from range(30, 32, 1, 2)",
      );
      expect(await stage.sql('select id from t where p = 4')).toEqual(ids(30, 32));
      // Spark asks the table's FileSystem about the other bucket before any commit protocol hears of the write.
      const statements = [
        "insert overwrite table t partition (p = 3, q = 'c') select id from range(30, 32, 1, 2)",
      ];
      expect(await stage.fails({ do: 'sql', statements })).toContain('Wrong FS');
      expect(await stage.sql('select count(*) from t where p = 3')).toEqual(['[4]']);

      await stage.run({
        do: 'sql',
        conf: { 'spark.sql.sources.partitionOverwriteMode': 'dynamic' },
        statements: [
          "insert overwrite table t select id, 3, 'c' from range(60, 61, 1, 1)",
          'insert overwrite table t select id, p, q from t where p = 2 and id > 12',
        ],
      });
      expect(await stage.sql('select id, p from t where p < 4')).toEqual(['[13,2]', '[14,2]', '[60,3]']);

      await stage.sql(
        "alter table t drop partition (p = 3, q = 'c')",
        "insert overwrite table t select 1, 7, 'n'",
      );
      expect(await stage.sql('select id, p, q from t')).toEqual(['[1,7,n]']);
      expect(await stage.files('elsewhere/c d')).toEqual([]);
    });

    it('a destination on another scheme goes to Spark’s own protocol', async () => {
      const home = await mkdtemp(join(tmpdir(), 'commitbridge-matrix-'));
      try {
        const path = `file://${home}/table`;
        const write = { do: 'save', format: 'parquet', path, partition_by: 'p', mode: 'overwrite' } as const;
        await stage.run({ ...write, query: thirty });
        const options = { partitionOverwriteMode: 'dynamic' };
        await stage.run({ ...write, query: three, options });
        expect(await stage.sql(`select count(*) from parquet.\`${path}\``)).toEqual(['[23]']);
      } finally {
        await rm(home, { recursive: true, force: true });
      }
    });

    it('S3A’s committers in the cluster’s defaults: ours win, or the write fails with a sentence', async () => {
      const s3a = {
        'fs.s3a.committer.name': 'directory',
        'mapreduce.outputcommitter.factory.scheme.s3a': 'org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory',
      };
      for (const binding of both) {
        const path = uri(`${binding}/s3a`);
        const conf = { ...bindings[binding], ...s3a };
        await stage.run({ do: 'save', query: thirty, format: 'parquet', path, conf });
        expect(await stage.files(`${binding}/s3a`)).toHaveLength(3);
        expect(await stage.success(`${binding}/s3a`)).toContain('commitbridge');
      }
      const conf = { ...stock, ...s3a, 'spark.hadoop.commitbridge.spark.check': 'fail' };
      const step = { do: 'save', query: thirty, format: 'orc', path: uri('half-configured'), conf } as const;
      expect(await stage.fails(step)).toContain("don't go through Commitbridge");
      expect(await stage.files('half-configured')).toEqual([]);
    });

    const oldApi = (name: string): Record<string, string> => ({ 'mapred.output.committer.class': name });
    const factory = {
      'mapreduce.outputcommitter.factory.scheme.s3a': 'io.commitbridge.BridgeCommitterFactory',
    };
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
      const load = async (directory: string): Promise<string[]> =>
        (await stage.run({ do: 'load', path: uri(directory), format: 'text', schema: 'v string' })).texts ??
        [];
      await stage.run({ ...write, path: uri(`stock/${call}`), hadoop: theirs });
      const since = stage.observer.lastSeq;
      const { bytes = 0 } = await stage.run({ ...write, path: uri(`ours/${call}`), hadoop: ours });

      expect(stage.observer.counts({}, since)).not.toHaveProperty('copy');
      expect(await stage.files(`ours/${call}`)).toEqual(await stage.files(`stock/${call}`));
      expect(await load(`ours/${call}`)).toEqual(await load(`stock/${call}`));
      const written = await stage.bytes(`ours/${call}`);
      expect(Math.abs(bytes - written) / written, `${bytes} of ${written} bytes`).toBeLessThan(0.01);
    });

    it('RDD: saveAsTextFile by the application’s configuration', async () => {
      const since = stage.observer.lastSeq;
      const path = uri('ours/saveAsTextFile');
      await stage.run({ do: 'rdd', call: 'saveAsTextFile', lines: 200, tasks: 2, path });

      expect(stage.observer.counts({}, since)).not.toHaveProperty('copy');
      expect(await stage.sql(`select count(*) from text.\`${path}\``)).toEqual(['[200]']);
    });

    it('twenty jobs of one application at once, on one table and on many, by both bindings', async () => {
      const write = async (n: number): Promise<unknown> =>
        stage.run({
          ...{ do: 'save', format: 'parquet', partition_by: 'p' },
          query: `select id, id % 4 p from range(${n * 100}, ${n * 100 + 100}, 1, 2)`,
          path: uri(n % 2 === 0 ? 'threads/one' : `threads/many/n=${n}`),
          conf: bindings[n % 4 < 2 ? 'protocol' : 'committers'],
        });
      await Promise.all(Array.from({ length: 20 }, (_, n) => write(n)));

      const counts = 'select count(*), count(distinct id)';
      expect(await stage.sql(`${counts} from ${parquet('threads/one')}`)).toEqual(['[1000,1000]']);
      const wrong = `select n from ${parquet('threads/many')} group by n having count(distinct id) <> 100 or count(*) <> 100`;
      expect(await stage.sql(wrong)).toEqual([]);
      expect(await stage.sql(`select count(distinct n) from ${parquet('threads/many')}`)).toEqual(['[10]']);
    });

    it('at the end no JVM knows an attempt, and no upload, record or temporary file is left', async () => {
      const { registries = [] } = await stage.run({ do: 'registry' });
      expect(registries).toEqual(Array.from({ length: 9 }, () => 0));
      await stage.expectNothingLeft();
    });
  },
);
