import type {
  Observer,
  ObservedRequest,
  RequestCounts,
  TableReader,
} from '../../test/support/observer/index.js';
import { SparkRun, type StepResult } from '../../test/support/spark/index.js';
import { alignTable, countTable, Stack, type StackStore } from '../lib/stack.js';
import { bundleJar } from '../lib/bundle-jar.js';

const bucket = 'quickstart';
const tablePrefix = 'warehouse/orders/';
const rows = 60_000;
const tasks = 8;
const partitions = 3;

/** Files as small as these would travel with commitTask, and there would be no upload to look at. */
const uploadsOnly = { 'spark.hadoop.commitbridge.inline-limit': '0' };

/** The names and meanings are a promise to scripts: see README. */
export interface Result {
  files: number;
  rows_written: number;
  rows_read: number;
  uploads_open_before_commit: number;
  visible_before_commit: number;
  uploads_left: number;
  records_left: number;
  requests: RequestCounts;
}

interface Sight {
  when: string;
  files: number;
  objects: number;
  success: boolean;
  openUploads: number;
}

/** Writes a table through the daemon while an independent reader looks on, and reads it back. */
export async function demonstrate(
  store: StackStore,
  say: (line: string) => void,
  stopped: AbortSignal,
): Promise<Result> {
  say('');
  const server = { s3proxy: 's3proxy (a real S3 server)', oss: 'a double of Aliyun OSS' }[store];
  say(`Starting ${server}, a proxy that counts its requests, and the Commitbridge daemon …`);
  const stack = await Stack.start(bucket, store);
  try {
    stopped.throwIfAborted();
    say(
      `A stock Spark (a driver and two executors, a JVM each) now writes ${rows} rows to ${tableOf(stack)}:`,
    );
    const hadoopJar = store === 'oss' ? 'hadoop-aliyun' : 'hadoop-aws';
    const fileSystem = store === 'oss' ? 'fs.oss' : 'fs.s3a';
    say(
      `Parquet, ${tasks} tasks, ${partitions} partitions. Besides Spark's own jars it has ${hadoopJar} and ours. Besides the ` +
        `settings by which ${hadoopJar} reads the table (${fileSystem}.…: endpoint, credentials) it has these:`,
    );
    for (const [key, value] of Object.entries({ ...stack.sparkConf, ...uploadsOnly }))
      say(`    ${key}=${value}`);
    say(
      'Its files are multipart uploads to their final keys; the job commit completes them: no rename, no copy.',
    );
    say('Meanwhile another client lists the table …');
    const { before, after, requests } = await write(stack, say, stopped);
    say('');
    say(countTable({ 'requests for data': requests.data, 'requests for state': requests.staging }));
    say(
      `    (${after.files} files, ${tasks} tasks; state lies under ${bucket}/.commitbridge/, out of readers' sight)`,
    );
    const written = await stack.reader.parquetRows(tablePrefix);
    say('');
    say('Another Spark reads the table back …');
    const rowsRead = await readBack(stack, stopped);
    say(`    rows in the Parquet footers: ${written.rows}; rows that Spark read: ${rowsRead}`);
    return {
      files: written.files,
      rows_written: written.rows,
      rows_read: rowsRead,
      uploads_open_before_commit: before.openUploads,
      visible_before_commit: before.objects,
      uploads_left: (await stack.reader.listUploads()).length,
      records_left: (await stack.records()).length,
      requests: requests.all,
    };
  } finally {
    await stack.stop();
  }
}

function tableOf(stack: Stack): string {
  return `${stack.uri}/${tablePrefix.slice(0, -1)}`;
}

async function write(stack: Stack, say: (line: string) => void, stopped: AbortSignal) {
  const { observer, reader } = stack;
  const gates = new CompletionGates(observer);
  const look = async (when: string): Promise<Sight> => sightOf(reader, when);
  const spark = await SparkRun.start({
    steps: [
      {
        ...{ do: 'write', path: tableOf(stack), format: 'parquet', mode: 'append' },
        ...{ rows, tasks, partition_by: 'region', partitions },
      },
    ],
    ...stack.sparkStore,
    bundleJar,
    conf: { ...stack.sparkConf, ...uploadsOnly },
  });
  const outcome = succeeded(spark, stack, stopped);
  outcome.catch(() => undefined); // it is awaited below, perhaps late
  /** What the job ends without never happens. */
  const orJobEnds = async <T>(event: Promise<T>): Promise<T> => {
    const ended = outcome.then(() => {
      throw new Error(
        `Spark's job ended before anything was committed through the daemon.\n${stack.daemon.log}`,
      );
    });
    return Promise.race([event, ended]);
  };

  await orJobEnds(observer.seen({ kind: 'put', key: /\/tasks\// }));
  const sights = [await look('first task committed, others write')];
  await orJobEnds(gates.firstCompletion);
  const before = await look('all tasks committed, the job not');
  sights.push(before);
  await orJobEnds(gates.letPass(Math.ceil(before.openUploads / 2)));
  sights.push(await look('in the middle of the job commit'));
  gates.open();
  await outcome;
  await stack.cleanedUp();
  const after = await look('after the job commit');
  sights.push(after);
  say('');
  say(sightTable(sights));
  const { data = {}, staging = {} } = observer.countsByWho();
  return { before, after, requests: { data, staging, all: observer.counts() } };
}

/** Holds the requests that complete an upload, which make files visible, to look at the table in between. */
class CompletionGates {
  /** Resolves with the first of them, which waits: the daemon has decided to commit, and nothing is completed. */
  readonly firstCompletion: Promise<ObservedRequest>;
  private readonly waiting: (() => void)[] = [];
  private passing = 0;

  constructor(private readonly observer: Observer) {
    this.firstCompletion = observer.seen({ kind: 'complete' });
    observer.on(
      { kind: 'complete' },
      {
        before: async () => {
          if (this.passing > 0) this.passing -= 1;
          else await new Promise<void>((resolve) => this.waiting.push(resolve));
        },
      },
    );
  }

  /** Lets so many through and waits until they have happened. */
  async letPass(count: number): Promise<void> {
    this.passing = count;
    while (this.passing > 0 && this.waiting.length > 0) {
      this.passing -= 1;
      this.waiting.shift()?.();
    }
    const isDone = (): boolean =>
      this.observer.select({ kind: 'complete' }).filter(({ status }) => status !== undefined).length >= count;
    while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  open(): void {
    this.passing = Infinity;
    for (const pass of this.waiting.splice(0)) pass();
  }
}

async function readBack(stack: Stack, stopped: AbortSignal): Promise<number> {
  stopped.throwIfAborted();
  const spark = await SparkRun.start({
    steps: [{ do: 'read', path: tableOf(stack), format: 'parquet' }],
    ...stack.sparkStore,
    master: 'local[2]',
  });
  const read = await succeeded(spark, stack, stopped);
  if (read.distinct_ids !== rows || read.wrong_values !== 0) {
    throw new Error(`Spark read other values than were written: ${JSON.stringify(read)}`);
  }
  return read.rows ?? 0;
}

/** The result of the one step of a job. Rejects when it failed, and when all is to stop: then it is killed. */
async function succeeded(spark: SparkRun, stack: Stack, stopped: AbortSignal): Promise<StepResult> {
  const kill = (): void => {
    spark.kill();
  };
  stopped.addEventListener('abort', kill);
  if (stopped.aborted) kill();
  const { exitCode, steps, log } = await spark.result;
  stopped.removeEventListener('abort', kill);
  stopped.throwIfAborted();
  const [result] = steps;
  if (exitCode === 0 && result !== undefined) return result;
  const reason = result?.error ?? log.split('\n').slice(-40).join('\n');
  throw new Error(
    `Spark's job failed (exit code ${exitCode ?? 'none'}): ${reason}\n\nThe daemon's log:\n${stack.daemon.log}`,
  );
}

async function sightOf(reader: TableReader, when: string): Promise<Sight> {
  const keys = (await reader.listObjects(tablePrefix)).map(({ key }) => key);
  return {
    when,
    files: keys.filter((key) => key.endsWith('.parquet')).length,
    objects: keys.length,
    success: keys.includes(`${tablePrefix}_SUCCESS`),
    openUploads: (await reader.listUploads(tablePrefix)).length,
  };
}

function sightTable(sights: Sight[]): string {
  return alignTable([
    ['what a reader sees', 'files', '_SUCCESS', 'uploads open'],
    ...sights.map(({ when, files, success, openUploads }) => [
      ...[when, String(files), success ? 'yes' : 'no', String(openUploads)],
    ]),
  ]);
}
