import { writeSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleJar } from '../../scripts/lib/bundle-jar.js';
import { countTable, Stack } from '../../scripts/lib/stack.js';
import { countByKind, type ObservedRequest, type RequestCounts } from '../support/observer/index.js';
import { runSpark } from '../support/spark/index.js';

const files = 200;
const bucket = 'cost';

/**
 * What a job may send beyond 3 requests a file and 3 a task, whatever the number of files and tasks. By kind, so that
 * a request that creeps in is seen; raise a number only with a reason.
 */
const constantBounds = {
  /** Success marker (HEAD of the old one, PUT), existing keys (LIST a prefix), and what Spark's driver asks of S3A. */
  data: { put: 1, head: 3, list: 3 },
  /**
   * PUT of job.json, plan, decision, and outcome twice; GETs of job.json, decision and outcome, before and after each
   * one-shot fact; LISTs of records and ledger; the removal of the records.
   */
  staging: { put: 5, get: 12, list: 5, head: 0, delete: 0, delete_many: 1 },
} satisfies Record<string, RequestCounts>;
/** With the task records at the driver: PUT and GET of their claim, and what the ledger asks when the job has ended. */
const claimRequests = { put: 1, get: 3 } as const;
/** Uploads that stay open over a second are written down: a PUT a second at most, a GET of it at the commit. */
const ledgerRequestsASecond = 2;
/** Inline files that are put behind one look at the outcome. */
const filesPerLook = 128;
/** And as long as there are such, the daemon asks whether their job has ended: a GET of the decision. */
const secondsPerLookAtDecision = 10;

describe(`requests for ${files} small Parquet files in ${files} tasks`, { timeout: 300_000 }, () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await Stack.start(bucket);
  });
  afterAll(async () => {
    await stack.stop();
  });

  const inline = 'spark.hadoop.commitbridge.inline-limit';
  const protocol = {
    'spark.sql.sources.commitProtocolClass': 'io.commitbridge.spark.BridgeCommitProtocol',
  };
  const carried = { ...protocol, 'spark.hadoop.commitbridge.task-records': 'driver' };
  const uploads = { initiate: files, part: files, complete: files };
  const inlineLooks = files / filesPerLook;
  it.each<[name: string, perFile: RequestCounts, looks: number, conf: Record<string, string>]>([
    ['3 a file, 3 a task', uploads, 0, { [inline]: '0' }],
    ['1 a file inline, 3 a task', { put: files }, inlineLooks, {}],
    ['1 a file inline by the commit protocol, 3 a task', { put: files }, inlineLooks, protocol],
    ['3 a file, 0 a task with the driver', uploads, 0, { ...carried, [inline]: '0' }],
    ['1 a file inline, 0 a task with the driver', { put: files }, inlineLooks, carried],
  ])('Commitbridge: %s and a constant', async (name, perFile, looks, conf) => {
    const isCarried = name.includes('with the driver');
    const path = name.replaceAll(/[ ,]+/g, '-');
    const { requests, seconds } = await writeSmallFiles(stack, path, { ...stack.sparkConf, ...conf });
    const ledger = requests.filter(({ key, prefix }) => (prefix ?? key).includes('/opened/'));
    const others = requests.filter((request) => !ledger.includes(request));
    const data = countByKind(others.filter(({ who }) => who === 'data'));
    const staging = countByKind(others.filter(({ who }) => who === 'staging'));

    const perTask: RequestCounts = isCarried ? {} : { put: files, get: 2 * files };
    const constant = { data: minus(data, perFile), staging: minus(staging, perTask) };
    print(name);
    print(
      countTable({
        'data, all': data,
        'data, constant': constant.data,
        'state, all': staging,
        'state, constant': constant.staging,
        'state, ledger': countByKind(ledger),
      }),
    );
    const total = [constant.data, constant.staging].flatMap((counts) => Object.values(counts));
    const sum = total.reduce((a, b) => a + b, 0);
    print(countTable(stateByFact(others)));
    print(`constant: ${sum} requests, and ${ledger.length} of the ledger in ${seconds.toFixed(0)} s`);
    print(`requests a file: ${(requests.length / files).toFixed(2)}`);

    for (const count of Object.values(constant.data)) expect(count).toBeGreaterThan(0);
    expect(exceeding(constant.data, constantBounds.data)).toEqual({});
    // Where no record takes uploads over, there are new ones in each second's flush.
    const flushes = isCarried && looks === 0 ? seconds + 2 : seconds / secondsPerLookAtDecision;
    const claims = isCarried ? claimRequests : { put: 0, get: 0 };
    const get = constantBounds.staging.get + Math.ceil(flushes) + Math.ceil(looks) + claims.get;
    const put = constantBounds.staging.put + claims.put;
    expect(exceeding(constant.staging, { ...constantBounds.staging, get, put })).toEqual({});
    expect(ledger.length).toBeLessThanOrEqual(ledgerRequestsASecond * (seconds + 2));
    expect(await stack.records()).toEqual([]);
    expect(await stack.reader.listUploads()).toEqual([]);
  });

  // Minutes of copying, for figures that don't change: only with every row of the matrices.
  it.each(process.env['COMMITBRIDGE_TEST_ALL'] === '1' ? ['1', '2'] : [])(
    'FileOutputCommitter v%s beside it',
    async (algorithm) => {
      const { requests, seconds } = await writeSmallFiles(stack, `file-output-committer-v${algorithm}`, {
        'spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version': algorithm,
      });
      print(countTable({ [`FileOutputCommitter v${algorithm}`]: countByKind(requests) }));
      print(`requests a file: ${(requests.length / files).toFixed(2)}, in ${seconds.toFixed(0)} s`);
      expect(requests.length).toBeGreaterThan(10 * files);
    },
  );
});

/** One file a task; returns the requests from Spark's start to the end of cleanup, and how long the job took. */
async function writeSmallFiles(
  stack: Stack,
  name: string,
  conf: Record<string, string>,
): Promise<{ requests: ObservedRequest[]; seconds: number }> {
  const path = `warehouse/${name}`;
  const since = stack.observer.lastSeq;
  const result = await runSpark({
    steps: [
      { do: 'write', path: `s3a://${bucket}/${path}`, format: 'parquet', rows: 10 * files, tasks: files },
    ],
    ...stack.sparkStore,
    master: 'local[8]',
    bundleJar,
    conf,
  });
  expect(result.exitCode, result.steps[0]?.error ?? result.log).toBe(0);
  await stack.cleanedUp();
  const written = await stack.reader.parquetRows(path);
  expect(written).toEqual({ files, rows: 10 * files });
  return { requests: stack.observer.select({}, since), seconds: result.steps[0]?.seconds ?? 0 };
}

/** The requests for the job's state, by the fact that they read or write. */
function stateByFact(requests: ObservedRequest[]): Record<string, RequestCounts> {
  const byFact = new Map<string, ObservedRequest[]>();
  for (const request of requests.filter(({ who }) => who === 'staging')) {
    const path = request.prefix ?? request.key;
    const fact =
      request.kind === 'list'
        ? 'listings'
        : (/\/(job|plan|decision|outcome|tasks)\b/.exec(path)?.[1] ?? 'several keys');
    byFact.set(fact, [...(byFact.get(fact) ?? []), request]);
  }
  return Object.fromEntries([...byFact].sort().map(([fact, list]) => [`  ${fact}`, countByKind(list)]));
}

function minus(counts: RequestCounts, expected: RequestCounts): RequestCounts {
  const kinds = Object.keys({ ...counts, ...expected }) as (keyof RequestCounts)[];
  return Object.fromEntries(
    kinds
      .map((kind) => [kind, (counts[kind] ?? 0) - (expected[kind] ?? 0)] as const)
      .filter(([, count]) => count !== 0),
  );
}

/** What is over its bound, or has none. */
function exceeding(counts: RequestCounts, bounds: RequestCounts): Record<string, string> {
  const kinds = Object.keys(counts) as (keyof RequestCounts)[];
  return Object.fromEntries(
    kinds
      .filter((kind) => (counts[kind] ?? 0) > (bounds[kind] ?? 0))
      .map((kind) => [kind, `${counts[kind] ?? 0} instead of at most ${bounds[kind] ?? 0}`]),
  );
}

/** Past vitest, which would put a heading over each line. */
function print(text: string): void {
  writeSync(2, `${text}\n`);
}
