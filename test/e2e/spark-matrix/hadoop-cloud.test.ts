import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installHadoopCloudJar, type StepConf } from '../../support/spark/index.js';
import { bindings, factory, recommended } from './bindings.js';
import { Stage, uri } from './stage.js';
import { hadoopCloudVersions } from './versions.js';

/** What a cluster sets for S3A's magic committer. */
const clusters = {
  'spark.hadoop.fs.s3a.committer.name': 'magic',
  'spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3a':
    'org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory',
  'spark.sql.sources.commitProtocolClass': 'org.apache.spark.internal.io.cloud.PathOutputCommitProtocol',
  'spark.sql.parquet.output.committer.class':
    'org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter',
};

/** Since 4.1 Spark sets them itself where hadoop-cloud's jar is there. */
const setsThemItself = ({ spark }: { spark: string }): boolean => /^4\.[1-9]/.test(spark);

const query = 'select id, id % 3 as p from range(0, 30, 1, 2)';
const warn = { 'spark.hadoop.commitbridge.spark.check': 'warn' };
const notOurs = "don't go through Commitbridge";

describe.each(hadoopCloudVersions())(
  'S3A’s committers in the defaults of stock Spark %s with hadoop-cloud',
  { timeout: 300_000 },
  (_name, version) => {
    let stage: Stage;
    beforeAll(async () => {
      const conf = setsThemItself(version) ? {} : clusters;
      stage = await Stage.start(version, { jars: [await installHadoopCloudJar(version)], conf }, {});
    }, 600_000);
    afterAll(async () => {
      await stage.stop();
    });

    async function save(
      directory: string,
      conf: StepConf,
      format: 'parquet' | 'csv' = 'parquet',
    ): Promise<void> {
      const since = stage.observer.lastSeq;
      await stage.run({ do: 'save', query, format, partition_by: 'p', path: uri(directory), conf });
      expect(await stage.files(directory)).toHaveLength(7);
      expect(stage.observer.counts({}, since)).not.toHaveProperty('copy');
    }

    it('they are live: where the check lets it, a write goes to the magic committer', async () => {
      await save('theirs', warn);
      expect(JSON.parse(await stage.success('theirs'))).toMatchObject({ committer: 'magic' });
    });

    it.each(['parquet', 'csv'] as const)(
      '%s, with our endpoints alone: the start warned, and the write fails with a sentence',
      async (format) => {
        const error = await stage.fails({ do: 'save', query, format, path: uri('endpoints') });
        expect(error).toContain(notOurs);
        expect(error).toContain('spark.sql.sources.commitProtocolClass');
        expect(stage.spark.log).toContain(notOurs);
        expect(await stage.files('endpoints')).toEqual([]);
      },
    );

    it.each(['parquet', 'csv'] as const)('%s, with our commit protocol: ours wins', async (format) => {
      const since = stage.observer.lastSeq;
      await save(`protocol/${format}`, recommended, format);
      expect(await stage.success(`protocol/${format}`)).toContain('commitbridge');
      expect(stage.observer.select({ key: /__magic/ }, since)).toEqual([]);
    });

    it('with our committer classes under their protocol: the write fails with a sentence', async () => {
      const { 'spark.sql.sources.commitProtocolClass': _, ...classes } = bindings.committers;
      const path = uri('classes');
      const error = await stage.fails({ do: 'save', query, format: 'parquet', path, conf: classes });
      expect(error).toContain(notOurs);
      expect(error).toContain('PathOutputCommitProtocol');
      expect(await stage.files('classes')).toEqual([]);
    });

    it('with our committer classes under Spark’s protocol: ours win', async () => {
      await save('committers', bindings.committers);
      expect(await stage.success('committers')).toContain('commitbridge');
    });

    it.each(['parquet', 'csv'] as const)(
      '%s, with our factory under their protocol: ours wins',
      async (format) => {
        const [[key, ours] = ['', '']] = Object.entries(factory);
        await save(`factory/${format}`, { [key]: ours, [`spark.hadoop.${key}`]: ours }, format);
        expect(await stage.success(`factory/${format}`)).toContain('commitbridge');
      },
    );

    it('RDD: S3A’s committer, until our factory is set', async () => {
      const write = { do: 'rdd', call: 'saveAsNewAPIHadoopFile', lines: 20, tasks: 2 } as const;
      await stage.run({ ...write, path: uri('rdd/theirs') });
      expect(JSON.parse(await stage.success('rdd/theirs'))).toMatchObject({ committer: 'magic' });
      await stage.run({ ...write, path: uri('rdd/ours'), hadoop: factory });
      expect(await stage.success('rdd/ours')).toContain('commitbridge');
    });

    it('and nothing of ours is left', async () => {
      await stage.expectNothingLeft();
    });
  },
);

describe.each(hadoopCloudVersions().filter(([, version]) => setsThemItself(version)))(
  'stock Spark %s, which would set S3A’s committers itself, with our lines in the defaults',
  { timeout: 300_000 },
  (_name, version) => {
    it('ours win', async () => {
      const stage = await Stage.start(version, { jars: [await installHadoopCloudJar(version)] });
      try {
        await stage.run({ do: 'save', query, format: 'parquet', path: uri('ours') });
        expect(await stage.success('ours')).toContain('commitbridge');
        expect(stage.spark.log).not.toContain(notOurs);
      } finally {
        await stage.stop();
      }
    });
  },
);
