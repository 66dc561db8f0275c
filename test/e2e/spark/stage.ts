import { expect } from 'vitest';
import { bundleJar } from '../../../scripts/lib/bundle-jar.js';
import { Observer, StoreReader } from '../../support/observer/index.js';
import { startS3Proxy, type S3Access, type S3Server } from '../../support/servers/index.js';
import { SparkRun, type SparkFormat, type StepResult, type WriteStep } from '../../support/spark/index.js';
import { KillableDaemon } from './killable-daemon.js';

export const bucket = 'spark';
/** What the daemon may write below; the rest of the bucket is out of its reach. */
export const root = `s3a://${bucket}/warehouse`;
/** Keys under it hold the state of jobs. */
const stagingPrefix = '.commitbridge/jobs/';
/** Task records, ledger segments and records of closed files: what doesn't outlive a job. */
const removedAtTheEnd = /\/(tasks|opened|files|claims)\//;
/** Background cleanup, and the ledger's look at the end of a job, which comes every ten seconds. */
const cleanupTimeoutMs = 40_000;

export const outputCommitters = {
  'spark.sql.parquet.output.committer.class': 'io.commitbridge.BridgeParquetOutputCommitter',
  'spark.sql.sources.outputCommitterClass': 'io.commitbridge.BridgeOutputCommitter',
};

/** The committers that fail tasks by `commitbridge.test.fault…`; see `java-shim/it`. */
export const faultyCommitters = {
  'spark.sql.parquet.output.committer.class': 'io.commitbridge.it.bridge.FaultyParquetOutputCommitter',
  'spark.sql.sources.outputCommitterClass': 'io.commitbridge.it.bridge.FaultyOutputCommitter',
};

/** Rows of a table: the ids `[first, first + rows)`. */
export interface Rows {
  first: number;
  rows: number;
}

/** A write to a table of the stage. */
export type TableWrite = Partial<WriteStep> & {
  /** Into three partitions by default. */
  partitioned?: boolean;
};

/** A real S3 server behind the observer, a daemon, and a stock Spark application in three JVMs. */
export class Stage {
  private constructor(
    private readonly server: S3Server,
    readonly observer: Observer,
    /** Goes to the server itself: an independent client that isn't observed. */
    readonly reader: StoreReader,
    /** The store as daemon and Spark see it. */
    readonly access: S3Access,
    readonly daemon: KillableDaemon,
    readonly spark: SparkRun,
  ) {}

  static async start(conf: Record<string, string> = {}): Promise<Stage> {
    const undo: (() => Promise<void>)[] = [];
    try {
      const server = await startS3Proxy();
      undo.push(() => server.stop());
      const observer = await Observer.start({ endpoint: server.endpoint });
      undo.push(() => observer.stop());
      const reader = new StoreReader(server, bucket);
      await reader.createBucket();
      const { region, accessKey, secretKey } = server;
      const access = { endpoint: observer.endpoint, region, accessKey, secretKey };
      const daemon = await KillableDaemon.start({ store: access, root });
      undo.push(() => daemon.stop());
      const spark = await SparkRun.start({
        steps: [],
        follow: true,
        s3: access,
        bundleJar,
        conf: {
          ...outputCommitters,
          'spark.hadoop.commitbridge.endpoints': daemon.endpoint,
          // These tests are about uploads, and files as small as theirs would travel inline.
          'spark.hadoop.commitbridge.inline-limit': '0',
          ...conf,
        },
      });
      return new Stage(server, observer, reader, access, daemon, spark);
    } catch (error) {
      for (const stop of undo.reverse()) await stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.spark.kill();
    this.observer.clearRules();
    await this.spark.result;
    await this.daemon.stop();
    this.reader.close();
    await this.observer.stop();
    await this.server.stop();
  }

  /** Writes `warehouse/<table>`: 600 rows in two tasks, Parquet, unless the step says otherwise. */
  async write(table: string, { partitioned = true, ...step }: TableWrite = {}): Promise<StepResult> {
    return this.spark.step({
      ...{ do: 'write', path: `${root}/${table}`, format: 'parquet', rows: 600, tasks: 2 },
      ...(partitioned ? { partition_by: 'p', partitions: 3 } : {}),
      ...step,
    });
  }

  /** As `write`, and fails with Spark's and the daemon's words where the job does. */
  async writeWell(table: string, step: TableWrite = {}): Promise<StepResult> {
    const result = await this.write(table, step);
    expect(result.error, this.daemon.log.slice(-4_000)).toBeUndefined();
    return result;
  }

  /** Reads a table by Spark: each id once, with its value. */
  async expectRows(
    table: string,
    { format, value_bytes = 16 }: { format: SparkFormat; value_bytes?: number },
    ...ranges: Rows[]
  ): Promise<void> {
    const read = await this.spark.step({ do: 'read', path: `${root}/${table}`, format, value_bytes });
    const rows = ranges.reduce((sum, range) => sum + range.rows, 0);
    const ids = ranges.reduce((sum, { first, rows: n }) => sum + n * first + (n * (n - 1)) / 2, 0);
    expect(read, read.error).toMatchObject({ rows, distinct_ids: rows, sum_ids: ids, wrong_values: 0 });
  }

  /** What an independent client sees of a table, as paths below it. */
  async visible(table: string): Promise<string[]> {
    const prefix = `warehouse/${table}/`;
    return (await this.reader.listObjects(prefix)).map(({ key }) => key.slice(prefix.length));
  }

  /** Open uploads of a table, as paths below it. */
  async openUploads(table: string): Promise<string[]> {
    const prefix = `warehouse/${table}/`;
    return (await this.reader.listUploads(prefix)).map(({ key }) => key.slice(prefix.length));
  }

  /** Open uploads anywhere, task records and ledger segments. */
  async left(): Promise<string[]> {
    const uploads = await this.reader.listUploads();
    const state = await this.reader.listObjects(stagingPrefix);
    return [
      ...uploads.map(({ key, uploadId }) => `upload ${uploadId} of ${key}`),
      ...state.map(({ key }) => key).filter((key) => removedAtTheEnd.test(key)),
    ];
  }

  /** Once background cleanup is over, nothing is left of any job but the facts that answer late calls. */
  async expectNothingLeft(): Promise<void> {
    await expect.poll(() => this.left(), { timeout: cleanupTimeoutMs, interval: 100 }).toEqual([]);
  }
}
