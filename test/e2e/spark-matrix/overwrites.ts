import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { errorBody, type RequestMatch } from '../../support/observer/index.js';
import { bindings, uploads } from './bindings.js';
import { Gate } from '../spark/gate.js';
import { Looks } from './looks.js';
import { otherBucket, parquet, uri, type Stage } from './stage.js';

export const thirty = 'select id, id % 3 as p from range(0, 30, 1, 2)';
/** For two of its three partitions. */
export const six = 'select id, 1 + id % 2 as p from range(100, 106, 1, 2)';
export const dynamic = { mode: 'overwrite', options: { partitionOverwriteMode: 'dynamic' } } as const;

function ids(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `[${from + i}]`).sort();
}

/** What `six` leaves of `thirty`. */
export const replacedIds = [
  ...['p=1/100', 'p=1/102', 'p=1/104', 'p=2/101', 'p=2/103', 'p=2/105'],
  ...Array.from({ length: 10 }, (_, i) => `p=0/${3 * i}`),
].sort();

/** Writes that replace what is there, and what is left of it when they fail. */
export function overwrites(stage: () => Stage): void {
  it('protocol: what an overwrite replaces is there at every step, until the new is published', async () => {
    const directory = 'protocol/overwrite';
    const write = { do: 'save', format: 'parquet', partition_by: 'p', path: uri(directory) } as const;
    await stage().run({ ...write, query: thirty });
    const before = (await stage().exactFiles(directory)).filter((file) => file !== '_SUCCESS');
    const firstDelete = new Gate(stage().observer, { kind: 'delete', key: new RegExp(`^${directory}/p=`) });
    const looks = new Looks(stage(), directory);
    const since = stage().observer.lastSeq;
    const written = stage().run({ ...write, query: six, mode: 'overwrite' });
    await Promise.race([firstDelete.reached, written]);
    const published = await stage().exactFiles(directory);
    firstDelete.open();
    await written;
    looks.end();

    expect(looks.seen.length).toBeGreaterThan(10);
    for (const seen of looks.seen) expect(seen).toEqual(before);
    expect(published).toEqual(expect.arrayContaining(before));
    expect(published).toHaveLength(before.length + 4);
    expect(stage().observer.counts({}, since)).not.toHaveProperty('copy');
    expect(await stage().parquetIds(directory)).toEqual(replacedIds.filter((id) => !id.startsWith('p=0')));
  });

  it('committers: Spark itself deletes what is overwritten, before the job is set up', async () => {
    const directory = 'committers/overwrite';
    const conf = bindings.committers;
    const write = { do: 'save', format: 'parquet', path: uri(directory), conf } as const;
    await stage().run({ ...write, query: thirty });
    const since = stage().observer.lastSeq;
    const setup = new Gate(stage().observer, { kind: 'put', key: /\/job\.json$/ });
    const written = stage().run({ ...write, query: six, mode: 'overwrite' });
    await Promise.race([setup.reached, written]);
    const seen = await stage().files(directory);
    setup.open();
    await written;

    expect(seen).toEqual([]);
    expect(stage().observer.counts({}, since)).not.toHaveProperty('copy');
    expect(await stage().sql(`select count(*) from ${parquet(directory)}`)).toEqual(['[6]']);
  });

  it('dynamic partition overwrite: only touched partitions are replaced, without a copy', async () => {
    const directory = 'protocol/dynamic';
    const write = { do: 'save', format: 'parquet', path: uri(directory), partition_by: 'p' } as const;
    await stage().run({ ...write, query: thirty });
    const before = await stage().exactFiles(directory);
    const since = stage().observer.lastSeq;
    const looks = new Looks(stage(), directory);
    await stage().run({ ...write, query: six, ...dynamic });
    looks.end();

    for (const seen of looks.seen) expect(seen).toEqual(before.filter((file) => file !== '_SUCCESS'));
    expect(stage().observer.counts({}, since)).not.toHaveProperty('copy');
    expect(await stage().parquetIds(directory)).toEqual(replacedIds);
    expect(await stage().sql(`select id from ${parquet(directory)} where p = 1`)).toEqual([
      '[100]',
      '[102]',
      '[104]',
    ]);
    const after = await stage().exactFiles(directory);
    const untouched = (files: string[]): string[] => files.filter((file) => file.startsWith('p=0/'));
    expect(untouched(after)).toEqual(untouched(before));
    expect(after.filter((file) => before.includes(file) && !file.startsWith('p=0/'))).toEqual(['_SUCCESS']);
  });

  it('dynamic partition overwrite by the committer classes is refused, and nothing is lost', async () => {
    const directory = 'committers/dynamic';
    const conf = bindings.committers;
    const write = { do: 'save', format: 'parquet', path: uri(directory), partition_by: 'p', conf } as const;
    await stage().run({ ...write, query: thirty });
    const before = await stage().exactFiles(directory);
    const error = await stage().fails({ ...write, query: six, ...dynamic });

    expect(error).toContain('io.commitbridge.spark.BridgeCommitProtocol');
    expect(await stage().exactFiles(directory)).toEqual(before);
  });

  const token = 'dynamic-that-fails';
  const put = (fact: string): RequestMatch => ({ kind: 'put', key: new RegExp(`/${token}[^/]*/.*${fact}`) });
  /** Before them Spark itself lists the destination. */
  const afterRecords = ({ seq }: { seq: number }): boolean =>
    stage().observer.select({ ...put('/tasks/'), where: (record) => record.seq < seq }, failingSince)
      .length >= 2;
  let failingSince = 0;
  it.each<[point: string, refused: RequestMatch | undefined]>([
    ['a row throws', undefined],
    ['setupJob is refused', put('job\\.json$')],
    ['uploads are refused', { kind: 'initiate' }],
    ['parts are refused', { kind: 'part' }],
    ['commitTask is refused', put('/tasks/')],
    ['the listing for the plan is refused', { kind: 'list', key: /^failing\//, where: afterRecords }],
    ['the plan is refused', put('plan-')],
    ['the decision is refused', put('decision\\.json$')],
    ['the second file is not published', { kind: 'complete', key: /^failing\//, nth: 2 }],
    ['no file is published', { kind: 'complete', key: /^failing\// }],
    ['‘published’ is refused', put('outcome\\.json$')],
  ])('dynamic partition overwrite, %s: every old row is there', async (point, refused) => {
    const directory = `failing/${point.replace(/\W+/g, '-')}`;
    const write = { do: 'save', format: 'parquet', path: uri(directory), partition_by: 'p' } as const;
    await stage().run({ ...write, query: thirty });
    const before = await stage().exactFiles(directory);
    const old = await stage().parquetIds(directory);
    const own = { ...uploads.protocol, 'commitbridge.job.token': `${token}-${point.replace(/\W+/g, '-')}` };
    const query =
      refused === undefined ? six.replace('id,', `if(id = 104, raise_error('on purpose'), id) id,`) : six;
    failingSince = stage().observer.lastSeq;
    let rule;
    if (refused !== undefined)
      rule = stage().observer.on(refused, () => ({
        ...{ do: 'respond', status: 403, body: errorBody('AccessDenied', 'refused by the test') },
      }));
    const error = await stage().fails({ ...write, query, ...dynamic, conf: own });
    rule?.remove();

    expect(error).toMatch(refused === undefined ? /on purpose/ : /refuse|AccessDenied|403/);
    const left = (await stage().exactFiles(directory)).filter((file) => before.includes(file));
    expect(left.filter((file) => file !== '_SUCCESS')).toEqual(before.filter((file) => file !== '_SUCCESS'));
    expect(await stage().parquetIds(directory)).toEqual(expect.arrayContaining(old));
    // A decision stands until somebody carries it out or takes it back.
    await stage().daemon.command('jobs', 'abort', own['commitbridge.job.token'], '--json');
    const rows = await stage().parquetIds(directory);
    expect([old, replacedIds]).toContainEqual(rows);
  });

  it('overwriting the own input, and an overwrite that fails: old rows stay until the commit', async () => {
    const directory = 'protocol/self';
    const write = { do: 'save', format: 'parquet', path: uri(directory), mode: 'overwrite' } as const;
    await stage().run({ ...write, query: thirty });
    await stage().run({ ...write, query: `select * from ${parquet(directory)} where id < 10` });
    expect(await stage().sql(`select id from ${parquet(directory)}`)).toEqual(ids(0, 10));

    const failing = `select if(id = 15, raise_error('on purpose'), 'a') v, id from range(0, 30, 1, 2)`;
    expect(await stage().fails({ ...write, query: failing })).toContain('on purpose');
    expect(await stage().sql(`select id from ${parquet(directory)}`)).toEqual(ids(0, 10));
  });

  it('a table with partitions at locations of their own, also in another bucket', async () => {
    await stage().sql(
      `create table t (id long, p int, q string) using parquet partitioned by (p, q) location '${uri('protocol/custom')}'`,
      "insert into t partition (p = 2, q = 'z') select id from range(10, 15, 1, 2)",
      "alter table t add partition (p = 3, q = 'c')",
      `alter table t partition (p = 3, q = 'c') set location 's3a://${otherBucket}/custom/c d'`,
      "insert into t select id, 3, 'c' from range(20, 24, 1, 2)",
      `alter table t add partition (p = 4, q = 'c') location '${uri('elsewhere/c d')}'`,
      "insert into t select id, 4, 'c' from range(20, 24, 1, 2)",
    );
    expect(await stage().files('custom/c d', otherBucket)).not.toEqual([]);
    expect(await stage().files('elsewhere/c d')).not.toEqual([]);
    expect(await stage().sql('select count(*) from t')).toEqual(['[13]']);

    await stage().sql(
      "insert overwrite table t partition (p = 4, q = 'c') select id from range(30, 32, 1, 2)",
    );
    expect(await stage().sql('select id from t where p = 4')).toEqual(ids(30, 32));
    // Spark asks the table's FileSystem about the other bucket before any commit protocol hears of the write.
    const statements = [
      "insert overwrite table t partition (p = 3, q = 'c') select id from range(30, 32, 1, 2)",
    ];
    expect(await stage().fails({ do: 'sql', statements })).toContain('Wrong FS');
    expect(await stage().sql('select count(*) from t where p = 3')).toEqual(['[4]']);

    await stage().run({
      do: 'sql',
      conf: { 'spark.sql.sources.partitionOverwriteMode': 'dynamic' },
      statements: [
        "insert overwrite table t select id, 3, 'c' from range(60, 61, 1, 1)",
        'insert overwrite table t select id, p, q from t where p = 2 and id > 12',
      ],
    });
    expect(await stage().sql('select id, p from t where p < 4')).toEqual(['[13,2]', '[14,2]', '[60,3]']);

    await stage().sql(
      "alter table t drop partition (p = 3, q = 'c')",
      "insert overwrite table t select 1, 7, 'n'",
    );
    expect(await stage().sql('select id, p, q from t')).toEqual(['[1,7,n]']);
    expect(await stage().files('elsewhere/c d')).toEqual([]);
  });

  it('a destination on another scheme goes to Spark’s own protocol', async () => {
    const home = await mkdtemp(join(tmpdir(), 'commitbridge-matrix-'));
    try {
      const path = `file://${home}/table`;
      const write = { do: 'save', format: 'parquet', path, partition_by: 'p', mode: 'overwrite' } as const;
      await stage().run({ ...write, query: thirty });
      await stage().run({ ...write, query: six, ...dynamic });
      expect(await stage().sql(`select count(*) from parquet.\`${path}\``)).toEqual(['[16]']);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
}
