import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindings } from './bindings.js';
import { Stage, uri } from './stage.js';
import { fewVersions } from './versions.js';

/** hadoop-aws and the SDK that it comes with. */
const storesJars = /^(hadoop-aws|aws-java-sdk-bundle|bundle)-\d/;

describe.each(fewVersions())(
  'executors of stock Spark %s without the store’s FileSystem class',
  { timeout: 300_000 },
  (_name, version) => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await Stage.start(version, { executorJars: (jar) => !storesJars.test(jar) });
    }, 600_000);
    afterAll(async () => {
      await stage.stop();
    });

    const write = { do: 'write', rows: 60, tasks: 2, partition_by: 'p' } as const;
    it.each(['parquet', 'orc', 'csv', 'json', 'text'] as const)('protocol: they write %s', async (format) => {
      const directory = `protocol/${format}`;
      await stage.run({ ...write, format, path: uri(directory) });

      expect(await stage.files(directory)).toHaveLength(7);
      if (format !== 'parquet') return;
      const ids = Array.from({ length: 60 }, (_, id) => `p=${id % 3}/${id}`).sort();
      expect(await stage.parquetIds(directory)).toEqual(ids);
    });

    it('committers: the tasks fail for want of the class, and nothing is written', async () => {
      const conf = bindings.committers;
      const error = await stage.fails({ ...write, format: 'parquet', path: uri('committers/parquet'), conf });

      expect(error).toMatch(/ClassNotFoundException.*org\.apache\.hadoop\.fs\.s3a\.S3AFileSystem/);
      expect(await stage.files('committers/parquet')).toEqual([]);
    });

    it('and nothing is left', async () => {
      await stage.expectNothingLeft();
    });
  },
);
