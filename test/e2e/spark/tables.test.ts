import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/servers/index.js';
import type { WriteStep } from '../../support/spark/index.js';
import { Gate } from './gate.js';
import { KillableDaemon } from './killable-daemon.js';
import { bucket, root, Stage } from './stage.js';

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** Spark's names of the files of one write, with its UUID left out. */
function sparkNames(tasks: number, partitions: number, extension: string): string[] {
  const names: string[] = [];
  for (let p = 0; p < partitions; p++) {
    for (let task = 0; task < tasks; task++) {
      names.push(`p=${p}/part-${String(task).padStart(5, '0')}-UUID.c000.${extension}`);
    }
  }
  return names;
}

/** Paths of files by the UUID of the write that made them, which is left out of the paths. */
function byWrite(paths: string[]): Map<string, string[]> {
  const writes = new Map<string, string[]>();
  for (const path of paths) {
    const id = new RegExp(uuid).exec(path)?.[0] ?? 'none';
    writes.set(id, [...(writes.get(id) ?? []), path.replace(id, 'UUID')]);
  }
  return writes;
}

describe('stock Spark in three JVMs writes through the daemon', { timeout: 300_000 }, () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.start();
  }, 300_000);
  afterAll(async () => {
    await stage.stop();
  });

  it.each([
    ['parquet', 'snappy.parquet'],
    ['csv', 'csv'],
  ] as const)(
    'a partitioned %s table: append twice, overwrite; nothing is seen before the commit',
    async (format, extension) => {
      const table = `tables/${format}`;
      const names = sparkNames(2, 3, extension);
      /** Writes while another client looks at the table when all tasks have committed and nothing is completed. */
      const writeAndLook = async (step: {
        first: number;
        rows: number;
        mode: 'append' | 'overwrite';
      }): Promise<string[]> => {
        const gate = new Gate(stage.observer, { kind: 'complete' });
        const written = stage.writeWell(table, { format, ...step });
        await Promise.race([gate.reached, written]);
        expect(
          (await stage.openUploads(table)).map((path) => path.replace(new RegExp(uuid), 'UUID')),
        ).toEqual(names);
        const seen = await stage.visible(table);
        gate.open();
        await written;
        return seen;
      };

      expect(await writeAndLook({ first: 0, rows: 600, mode: 'append' })).toEqual([]);
      const first = await stage.visible(table);
      expect(first).toContain('_SUCCESS');
      const files = first.filter((path) => path !== '_SUCCESS');
      expect([...byWrite(files).values()]).toEqual([names]);
      await stage.expectRows(table, { format }, { first: 0, rows: 600 });

      expect(await writeAndLook({ first: 600, rows: 300, mode: 'append' })).toEqual(files); // no marker any more
      const both = byWrite((await stage.visible(table)).filter((path) => path !== '_SUCCESS'));
      expect([...both.values()]).toEqual([names, names]);
      await stage.expectRows(table, { format }, { first: 0, rows: 900 });

      // Spark deletes the old files before it sets the job up.
      expect(await writeAndLook({ first: 5_000, rows: 100, mode: 'overwrite' })).toEqual([]);
      const replaced = byWrite((await stage.visible(table)).filter((path) => path !== '_SUCCESS'));
      expect([...replaced.values()]).toEqual([names]);
      for (const id of replaced.keys()) expect(both.has(id)).toBe(false);
      await stage.expectRows(table, { format }, { first: 5_000, rows: 100 });

      await stage.expectNothingLeft();
      expect(stage.observer.counts()).not.toHaveProperty('copy');
    },
  );

  /** A job that must fail; returns Spark's words. */
  async function refused(step: WriteStep): Promise<string> {
    const since = stage.observer.lastSeq;
    const { ok, error = '', seconds } = await stage.spark.step(step);

    expect(ok).toBe(false);
    expect(seconds, error).toBeLessThan(30);
    expect(stage.observer.counts({ kind: ['initiate', 'part', 'copy'] }, since)).toEqual({});
    return error;
  }
  const write = { do: 'write', format: 'parquet', rows: 600, tasks: 2 } as const;

  it('no daemon at the endpoint: the job fails within seconds, and says what to set', async () => {
    const endpoint = `127.0.0.1:${await freePort()}`;
    const error = await refused({
      ...{ ...write, path: `${root}/no-daemon`, conf: { 'commitbridge.endpoints': endpoint } },
    });

    expect(error).toContain(`No Commitbridge daemon answers GetServerInfo at ${endpoint}`);
    expect(error).toContain('set commitbridge.endpoints to where it listens');
  });

  it('no endpoint: the job fails, and says what to set', async () => {
    const error = await refused({
      ...{ ...write, path: `${root}/no-endpoint`, conf: { 'commitbridge.endpoints': '' } },
    });

    expect(error).toContain('commitbridge.endpoints');
  });

  it('a destination outside the roots: the job fails with the daemon’s sentence', async () => {
    const error = await refused({ ...write, path: `s3a://${bucket}/elsewhere/table` });

    expect(error).toContain(
      "s3://spark/elsewhere/table lies in no configured root: add one to `roots` in the daemon's configuration",
    );
    expect(await stage.reader.listObjects('elsewhere')).toEqual([]);
  });

  it.each([
    [
      'wrong credentials',
      bucket,
      'no-such-secret',
      /the store of .+ refuses the daemon's credentials: .+ check stores\.\*\.credentials/,
    ],
    [
      'a missing bucket',
      'no-such-bucket',
      undefined,
      /the bucket of .+ does not exist: .+ check roots\[\]\.uri/,
    ],
  ])('%s: the job fails with the daemon’s sentence', async (_name, inBucket, secretKey, sentence) => {
    const store = { ...stage.access, ...(secretKey === undefined ? {} : { secretKey }) };
    const daemon = await KillableDaemon.start({ store, root: `s3a://${inBucket}/warehouse` });
    try {
      const path = `s3a://${inBucket}/warehouse/table`;
      const error = await refused({ ...write, path, conf: { 'commitbridge.endpoints': daemon.endpoint } });

      expect(error).toMatch(sentence);
    } finally {
      await daemon.stop();
    }
  });
});
