import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ObservedRequest } from '../../support/observer/index.js';
import { StandaloneCluster, type SparkFormat } from '../../support/spark/index.js';
import { both, uploads, type Binding } from './bindings.js';
import { Stage, uri } from './stage.js';
import { fewVersions } from './versions.js';

const tasks = 12;
const rows = 240;
/** Their first attempts hang in a part's reply. Each takes a core, and two of the six must go on with the others. */
const slow = ['part-00000', 'part-00001', 'part-00002', 'part-00003'];
/** What is long for this test. A write that hangs for it fails by its counts. */
const patienceMs = 120_000;

const taskOf = (key: string): string => /part-\d{5}/.exec(key)?.[0] ?? 'none';

/** Two hosts, since Spark never runs two attempts of a task on one. */
describe.each(fewVersions())('speculation in stock Spark %s', { timeout: 300_000 }, (_name, version) => {
  let cluster: StandaloneCluster;
  let stage: Stage;
  beforeAll(async () => {
    cluster = await StandaloneCluster.start({ version, hosts: ['127.0.0.1', '127.0.0.2'], cores: 3 });
    stage = await Stage.start(version, {
      master: cluster.master,
      conf: {
        'spark.executor.memory': '1g',
        'spark.speculation': 'true',
        'spark.speculation.interval': '100ms',
        'spark.speculation.minTaskRuntime': '0ms',
        'spark.speculation.multiplier': '1.5',
        'spark.speculation.quantile': '0.25',
      },
    });
  }, 600_000);
  afterAll(async () => {
    await stage.stop();
    await cluster.stop();
  });

  /**
   * Parts of slow tasks reach the store, but the reply waits: of the first attempt until a second one has sent a part
   * too, and with `untilCommit` until that one's task has its record.
   */
  function slowDown(untilCommit: boolean): { attempts: Map<string, Set<string>>; end: () => void } {
    const attempts = new Map<string, Set<string>>();
    const go = new Map<string, { promise: Promise<void>; resolve: () => void }>();
    const gateOf = (task: string): { promise: Promise<void>; resolve: () => void } => {
      let gate = go.get(task);
      if (gate === undefined) {
        let resolve = (): void => undefined;
        const promise = new Promise<void>((done) => (resolve = done));
        gate = { promise, resolve };
        go.set(task, gate);
        setTimeout(resolve, patienceMs).unref();
      }
      return gate;
    };
    const parts = stage.observer.on(
      { kind: 'part' },
      {
        after: async ({ key, uploadId = '' }: ObservedRequest) => {
          const task = taskOf(key);
          const uploads = attempts.get(task) ?? new Set();
          attempts.set(task, uploads.add(uploadId));
          if (!slow.includes(task)) return undefined;
          if (uploads.size >= 2 && !untilCommit) gateOf(task).resolve();
          if ([...uploads][0] === uploadId || !untilCommit) await gateOf(task).promise;
          return undefined;
        },
      },
    );
    // One record a task: that of the second attempt, while the first one hangs.
    const records = stage.observer.on(
      { kind: 'put', key: /\/tasks\// },
      {
        after: ({ key }: ObservedRequest) => {
          const number = /\/tasks\/[a-z]-(\d+)\//.exec(key)?.[1];
          if (number !== undefined) gateOf(`part-${number.padStart(5, '0')}`).resolve();
          return undefined;
        },
      },
    );
    return {
      attempts,
      end: () => {
        parts.remove();
        records.remove();
      },
    };
  }

  it.each<[Binding, SparkFormat, string, boolean]>([
    ...both.map(
      (binding) =>
        [binding, 'parquet', 'go on side by side', false] as [Binding, SparkFormat, string, boolean],
    ),
    ...both.map(
      (binding) =>
        [binding, 'csv', 'the first wakes up after the second has committed', true] as [
          Binding,
          SparkFormat,
          string,
          boolean,
        ],
    ),
  ])('%s, %s, two attempts %s: each row once, no upload left', async (binding, format, _how, untilCommit) => {
    const directory = `${binding}/${format}`;
    const { attempts, end } = slowDown(untilCommit);
    await stage.run({
      ...{ do: 'save', format, path: uri(directory), conf: uploads[binding] },
      query: `select id from range(0, ${rows}, 1, ${tasks})`,
    });
    end();

    const twice = [...attempts.values()].filter((uploads) => uploads.size >= 2).length;
    console.log(`${binding}, ${format}: two attempts wrote in ${twice} of ${attempts.size} tasks`);
    expect(attempts.size).toBe(tasks);
    expect(twice).toBeGreaterThan(0);
    const load = { do: 'load', path: uri(directory), format, schema: 'id long' } as const;
    const ids = Array.from({ length: rows }, (_, id) => `[${id}]`).sort();
    expect((await stage.run(load)).texts).toEqual(ids);
    expect(await stage.files(directory)).toHaveLength(tasks + 1);
    await expect.poll(() => stage.openUploads(directory), { timeout: 60_000 }).toBe(0);
  });

  it('and nothing is left of any attempt', async () => {
    await stage.expectNothingLeft();
    // A task that was killed notices when its thread is interrupted, which may be after its job's end.
    const known = async (): Promise<Set<number>> => new Set((await stage.run({ do: 'registry' })).registries);
    await expect.poll(known, { timeout: 60_000, interval: 2_000 }).toEqual(new Set([0]));
  });
});
