import {
  Observer,
  requestKinds,
  StoreReader,
  type ClassifiedRequest,
  type RequestCounts,
  type TableReader,
} from '../../test/support/observer/index.js';
import { OssDouble, OssReader } from '../../test/support/oss-double/index.js';
import { startS3Proxy, type S3Access } from '../../test/support/servers/index.js';
import { Daemon } from './daemon.js';

/** Keys under it hold the state of jobs; see `src/core/staging-layout.ts`. */
export const stagingPrefix = '.commitbridge/jobs/';
/** Task records, ledger segments and records of closed files: what background cleanup removes. */
const removedAtTheEnd = /\/(tasks|opened|files|claims)\//;

/** What a stack stores into: a real S3 server, or a double of OSS. */
export type StackStore = 's3proxy' | 'oss';

/** A server, behind a proxy that counts and holds requests, with a bucket and a daemon. */
export class Stack {
  private constructor(
    readonly store: StackStore,
    private readonly server: S3Access & { stop(): Promise<void> },
    readonly observer: Observer,
    readonly daemon: Daemon,
    /** Goes to the server itself, so that its own requests aren't counted. */
    readonly reader: TableReader,
    /** The store as daemon and Spark see it: through the proxy. */
    readonly access: S3Access,
    readonly bucket: string,
  ) {}

  static async start(bucket: string, store: StackStore = 's3proxy'): Promise<Stack> {
    const undo: (() => Promise<void>)[] = [];
    try {
      const server = store === 'oss' ? await startOssDouble(bucket) : await startS3Proxy();
      undo.push(() => server.stop());
      const observer = await Observer.start({ endpoint: server.endpoint, who: stagingOrData });
      undo.push(() => observer.stop());
      const reader = await readerOf(store, server, bucket);
      const { region, accessKey, secretKey } = server;
      const access = { endpoint: observer.endpoint, region, accessKey, secretKey };
      const type = store === 'oss' ? 'oss' : 's3';
      const daemon = await Daemon.start({ store: access, type, bucket });
      return new Stack(store, server, observer, daemon, reader, access, bucket);
    } catch (error) {
      for (const stop of undo.reverse()) await stop();
      throw error;
    }
  }

  /** What URIs of the bucket begin with, as Hadoop has them. */
  get uri(): string {
    return `${this.store === 'oss' ? 'oss' : 's3a'}://${this.bucket}`;
  }

  /** How Spark's own file systems reach the store. */
  get sparkStore(): { s3: S3Access } | { oss: S3Access } {
    return this.store === 'oss' ? { oss: this.access } : { s3: this.access };
  }

  /** Of Spark, for a Parquet job that Commitbridge commits. */
  get sparkConf(): Record<string, string> {
    return {
      'spark.sql.parquet.output.committer.class': 'io.commitbridge.BridgeParquetOutputCommitter',
      'spark.sql.sources.outputCommitterClass': 'io.commitbridge.BridgeOutputCommitter',
      'spark.hadoop.commitbridge.endpoints': this.daemon.endpoint,
    };
  }

  /** Keys of records and ledger segments that are there now. */
  async records(): Promise<string[]> {
    const objects = await this.reader.listObjects(stagingPrefix);
    return objects.map(({ key }) => key).filter((key) => removedAtTheEnd.test(key));
  }

  /** Waits until background cleanup has left no record or until `timeoutMs` have passed, then for silence. */
  async cleanedUp(timeoutMs = 20_000): Promise<void> {
    for (const deadline = Date.now() + timeoutMs; Date.now() < deadline;) {
      await this.observer.idle(1_500); // longer than the ledger's interval
      if ((await this.records()).length === 0) return;
    }
  }

  async stop(): Promise<void> {
    this.observer.clearRules();
    await this.daemon.stop();
    this.reader.close();
    await this.observer.stop();
    await this.server.stop();
  }
}

async function startOssDouble(bucket: string): Promise<S3Access & { stop(): Promise<void> }> {
  const double = await OssDouble.start({ buckets: [bucket] });
  const { endpoint, region, accessKey } = double;
  const { accessKeyId, accessKeySecret } = accessKey;
  const access = { endpoint, region, accessKey: accessKeyId, secretKey: accessKeySecret };
  return { ...access, stop: () => double.stop() };
}

async function readerOf(store: StackStore, server: S3Access, bucket: string): Promise<TableReader> {
  if (store === 'oss') return new OssReader(server, bucket);
  const reader = new StoreReader(server, bucket);
  await reader.createBucket();
  return reader;
}

/** The keys of a `delete_many` are in its body; only cleanup sends it, as long as no job replaces anything. */
function stagingOrData({ kind, key, prefix }: ClassifiedRequest): 'staging' | 'data' {
  if (kind === 'delete_many') return 'staging';
  return (key === '' ? (prefix ?? '') : key).startsWith('.commitbridge') ? 'staging' : 'data';
}

/** Kinds as columns, one row a name. */
export function countTable(rows: Record<string, RequestCounts>): string {
  const kinds = requestKinds.filter((kind) => Object.values(rows).some((counts) => kind in counts));
  const header = ['', ...kinds, 'all'];
  const lines = Object.entries(rows).map(([name, counts]) => {
    const numbers = kinds.map((kind) => counts[kind] ?? 0);
    return [name, ...numbers.map(String), String(numbers.reduce((sum, count) => sum + count, 0))];
  });
  return alignTable([header, ...lines]);
}

/** The first column to the left, the others to the right. */
export function alignTable(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join('  '),
    )
    .join('\n');
}
