import { expect, it } from 'vitest';
import type { RequestMatch } from '../../support/observer/index.js';
import { Gate } from '../spark/gate.js';
import { uploads } from './bindings.js';
import { dynamic, replacedIds, six, thirty } from './overwrites.js';
import { uri, type Stage } from './stage.js';

/** Where each of the jobs is held when the driver dies. All of them replace two partitions of three by four files. */
const moments = ['decided', 'published-a-part', 'published'] as const;
type Moment = (typeof moments)[number];
const ends = ['commit', 'abort'] as const;
const cases = moments.flatMap((moment) => ends.map((end) => [moment, end] as const));

function nameOf(moment: Moment, end: (typeof ends)[number]): string {
  return `driver-${moment}-${end}`;
}

/** Kills the application: the last of the suite. */
export function driverKilled(stage: () => Stage): void {
  const gates: Gate[] = [];
  const old = new Map<string, { files: string[]; ids: string[] }>();

  it('the driver is killed in the commit of six dynamic partition overwrites', async () => {
    for (const [moment, end] of cases) {
      const name = nameOf(moment, end);
      const write = { do: 'save', format: 'parquet', path: uri(name), partition_by: 'p' } as const;
      await stage().run({ ...write, query: thirty });
      old.set(name, { files: await stage().exactFiles(name), ids: await stage().parquetIds(name) });

      const files = new RegExp(`^${name}/p=`);
      const holds: Record<Moment, [RequestMatch, { from?: number }]> = {
        decided: [{ kind: 'put', key: new RegExp(`/${name}/.*decision\\.json$`) }, {}],
        'published-a-part': [{ kind: 'complete', key: files }, { from: 3 }],
        published: [{ kind: 'delete', key: files }, { from: 2 }],
      };
      const gate = new Gate(stage().observer, ...holds[moment]);
      gates.push(gate);
      const conf = { ...uploads.protocol, 'commitbridge.job.token': name };
      const written = stage().spark.step({ ...write, query: six, ...dynamic, conf });
      written.catch(() => undefined); // it is to be killed
      await Promise.race([
        gate.reached,
        written.then(({ error }) => {
          throw new Error(`${name} ended by itself: ${error ?? 'it succeeded'}`);
        }),
      ]);
      if (moment === 'published-a-part')
        await expect.poll(() => stage().files(name)).toHaveLength(oldFilesOf(name).length + 2);
    }
    expect(stage().observer.counts({ kind: 'copy', key: /^driver-/ })).toEqual({});

    stage().spark.kill();
    await stage().spark.result;
    await stage().daemon.kill(); // it would go on
    for (const gate of gates) gate.drop();
  });

  function oldFilesOf(name: string): string[] {
    return (old.get(name)?.files ?? []).filter((file) => file !== '_SUCCESS');
  }

  it.each(cases)(
    '%s, jobs %s: every old row or every new one, and the third partition as it was',
    async (moment, end) => {
      const name = nameOf(moment, end);
      const { observer } = stage();
      const since = observer.lastSeq;
      await stage().command('jobs', end, name, '--json');

      // What is published stays published.
      const isNew = end === 'commit' || moment === 'published';
      expect(await stage().parquetIds(name)).toEqual(isNew ? replacedIds : old.get(name)?.ids);
      const files = await stage().exactFiles(name);
      const untouched = (all: string[]): string[] => all.filter((file) => file.startsWith('p=0/'));
      expect(untouched(files)).toEqual(untouched(oldFilesOf(name)));
      if (isNew) expect(files).toContain('_SUCCESS');
      else expect(files.filter((file) => file !== '_SUCCESS')).toEqual(oldFilesOf(name));
      expect(observer.counts({}, since)).not.toHaveProperty('copy');
      await expect.poll(() => stage().openUploads(name), { timeout: 60_000 }).toBe(0);
    },
  );

  it('and nothing is left of them', async () => {
    await stage().daemon.restart();
    await stage().expectNothingLeft();
  });
}
