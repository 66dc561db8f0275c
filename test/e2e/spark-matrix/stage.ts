import { parquetReadObjects } from 'hyparquet';
import { expect } from 'vitest';
import { bundleJar } from '../../../scripts/lib/bundle-jar.js';
import { Observer, StoreReader } from '../../support/observer/index.js';
import { startS3Proxy, type S3Access, type S3Server } from '../../support/servers/index.js';
import {
  SparkRun,
  type SparkOptions,
  type SparkStep,
  type SparkVersion,
  type StepResult,
} from '../../support/spark/index.js';
import { KillableDaemon } from '../spark/killable-daemon.js';
import { recommended } from './bindings.js';

export const bucket = 'matrix';
/** For partitions with a location of their own. */
export const otherBucket = 'matrix-elsewhere';
/** S3A finds credentials for it in the driver's JVM only. */
export const driversBucket = 'matrix-driver-only';
const buckets = [bucket, otherBucket, driversBucket];

/** Task records, ledger segments and records of closed files: what doesn't outlive a job. */
const removedAtTheEnd = /^\.commitbridge\/jobs\/.*\/(tasks|opened|files|claims)\//;
/** Background cleanup, and the ledger's look at the end of a job, which comes every ten seconds. */
const cleanupTimeoutMs = 60_000;
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A path without the UUIDs of writes. */
export function withoutUuid(path: string): string {
  return path.replace(uuid, 'UUID');
}

export function uri(directory: string): string {
  return `s3a://${bucket}/${directory}`;
}

/** A directory as a table of SQL. */
export function parquet(directory: string): string {
  return `parquet.\`${uri(directory)}\``;
}

/** A real S3 server with three buckets, a daemon for them, and one application of one stock Spark. */
export class Stage {
  private constructor(
    private readonly server: S3Server,
    readonly observer: Observer,
    /** Go to the server itself: independent clients. */
    private readonly readers: Record<string, StoreReader>,
    readonly daemon: KillableDaemon,
    readonly spark: SparkRun,
  ) {}

  /** `options.conf` over `base`, which is what docs/spark.md recommends. */
  static async start(
    version: SparkVersion,
    options: Partial<SparkOptions> = {},
    base: Record<string, string> = recommended,
  ): Promise<Stage> {
    const undo: (() => Promise<void>)[] = [];
    try {
      const server = await startS3Proxy();
      undo.push(() => server.stop());
      const observer = await Observer.start({ endpoint: server.endpoint });
      undo.push(() => observer.stop());
      const readers: Record<string, StoreReader> = {};
      for (const name of buckets) {
        const reader = new StoreReader(server, name);
        await reader.createBucket();
        readers[name] = reader;
      }
      const { region, accessKey, secretKey } = server;
      const access = { endpoint: observer.endpoint, region, accessKey, secretKey };
      const [root = '', ...moreRoots] = buckets.map((name) => `s3a://${name}/`);
      const daemon = await KillableDaemon.start({ store: access, root, moreRoots });
      undo.push(() => daemon.stop());
      const spark = await SparkRun.start({
        ...{ steps: [], follow: true, s3: access, bundleJar, version },
        ...options,
        driverOptions: [...credentialsOf(access), ...(options.driverOptions ?? [])],
        conf: {
          ...base,
          'spark.hadoop.commitbridge.endpoints': daemon.endpoint,
          // For the RDD API alone; it doesn't ask for a commit protocol.
          'spark.hadoop.mapred.output.committer.class': 'io.commitbridge.mapred.BridgeOutputCommitter',
          'spark.serializer': 'org.apache.spark.serializer.KryoSerializer',
          'spark.scheduler.mode': 'FAIR',
          [`spark.hadoop.fs.s3a.bucket.${driversBucket}.aws.credentials.provider`]:
            providerOfProperties(version),
          ...options.conf,
        },
      });
      return new Stage(server, observer, readers, daemon, spark);
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
    for (const reader of Object.values(this.readers)) reader.close();
    await this.observer.stop();
    await this.server.stop();
  }

  /** Runs a step that must succeed. */
  async run(step: SparkStep): Promise<StepResult> {
    const result = await this.spark.step(step);
    expect(result.error, this.daemon.log.slice(-4_000)).toBeUndefined();
    return result;
  }

  /** Runs a step that must fail, and returns its error. */
  async fails(step: SparkStep): Promise<string> {
    const { error } = await this.spark.step(step);
    expect(error, JSON.stringify(step)).toBeDefined();
    return error ?? '';
  }

  async sql(...statements: string[]): Promise<string[]> {
    return (await this.run({ do: 'sql', statements })).texts ?? [];
  }

  /** A command of the daemon's, such as `jobs abort TOKEN`, which must succeed. */
  async command(...args: string[]): Promise<string> {
    const { code, output } = await this.daemon.command(...args);
    expect(code, output).toBe(0);
    return output;
  }

  /** What an independent client sees below a directory, with the UUIDs of writes left out; no directory markers. */
  async files(directory: string, inBucket = bucket): Promise<string[]> {
    return (await this.list(directory, inBucket)).map(({ key }) => withoutUuid(key)).sort();
  }

  /** The same with the UUIDs, which make every file of every write another one. */
  async exactFiles(directory: string): Promise<string[]> {
    return (await this.list(directory, bucket)).map(({ key }) => key).sort();
  }

  /** The bytes of the files below a directory that tasks wrote. */
  async bytes(directory: string): Promise<number> {
    const files = (await this.list(directory, bucket)).filter(({ key }) => key !== '_SUCCESS');
    return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  /** Ids in the Parquet files below a directory, each after its partitions, as an independent client reads them. */
  async parquetIds(directory: string): Promise<string[]> {
    const ids: string[] = [];
    for (const { key } of await this.list(directory, bucket)) {
      if (!key.endsWith('.parquet')) continue;
      const bytes = await this.reader(bucket).getObject(`${directory}/${key}`);
      if (bytes === undefined) continue; // deleted since the listing
      const rows = await parquetReadObjects({ file: new Uint8Array(bytes).buffer, columns: ['id'] });
      const partition = key.slice(0, key.lastIndexOf('/') + 1);
      ids.push(...rows.map(({ id }) => `${partition}${id as bigint}`));
    }
    return ids.sort();
  }

  private async list(directory: string, inBucket: string): Promise<{ key: string; sizeBytes: number }[]> {
    const objects = await this.reader(inBucket).listObjects(`${directory}/`);
    return objects
      .filter(({ key }) => !key.endsWith('/'))
      .map(({ key, sizeBytes }) => ({ key: key.slice(directory.length + 1), sizeBytes }));
  }

  /** The text of the marker, which names the committer. */
  async success(directory: string): Promise<string> {
    return (await this.reader(bucket).getObject(`${directory}/_SUCCESS`))?.toString() ?? '';
  }

  async openUploads(directory: string): Promise<number> {
    return (await this.reader(bucket).listUploads(`${directory}/`)).length;
  }

  /** Once background cleanup is over, nothing is left of any job but the facts that answer late calls. */
  async expectNothingLeft(): Promise<void> {
    const left = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const [name, reader] of Object.entries(this.readers)) {
        for (const { key } of await reader.listUploads()) found.push(`upload of ${name}/${key}`);
        for (const { key } of await reader.listObjects())
          if (removedAtTheEnd.test(key) || /_temporary|spark-staging/.test(key)) found.push(`${name}/${key}`);
      }
      return found;
    };
    await expect.poll(left, { timeout: cleanupTimeoutMs, interval: 500 }).toEqual([]);
  }

  private reader(name: string): StoreReader {
    const reader = this.readers[name];
    if (reader === undefined) throw new Error(`There is no bucket ${name}.`);
    return reader;
  }
}

/** As properties of the driver's JVM, under the names of both versions of Amazon's SDK. */
function credentialsOf({ accessKey, secretKey }: S3Access): string[] {
  return [
    `-Daws.accessKeyId=${accessKey}`,
    `-Daws.secretKey=${secretKey}`,
    `-Daws.secretAccessKey=${secretKey}`,
  ];
}

function providerOfProperties({ hadoop }: SparkVersion): string {
  return hadoop.startsWith('3.3.')
    ? 'com.amazonaws.auth.SystemPropertiesCredentialsProvider'
    : 'software.amazon.awssdk.auth.credentials.SystemPropertyCredentialsProvider';
}
