import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ObservedRequest, RequestMatch } from '../../support/observer/index.js';
import type { StepResult, WriteStep } from '../../support/spark/index.js';
import { Gate } from './gate.js';
import { root, Stage, type Rows } from './stage.js';

const rowsAWrite = 600;
const filesATask = 3;

interface Moment {
  /** Before the store has seen the request, or when it has answered and the daemon hasn't heard of it. */
  when: 'before' | 'after';
  match: RequestMatch;
}

const put = (key: RegExp, nth = 1): RequestMatch => ({ kind: 'put', key, nth });
const record = /\/tasks\//;
const outcome = /\/outcome\.json$/;

/** Every write appends to one table, and the daemon dies at another request of it. */
describe('the daemon is killed with -9 and started again', { timeout: 300_000 }, () => {
  let stage: Stage;
  const table = 'kills';
  const written: Rows[] = [];
  let files = 0;
  beforeAll(async () => {
    stage = await Stage.start();
  }, 300_000);
  afterAll(async () => {
    await stage.stop();
  });

  /** SIGKILL at one request, which, or whose answer, is lost with the daemon; and a new start at once. */
  function killAt({ when, match }: Moment): { done: Promise<void>; request: Promise<ObservedRequest> } {
    let tell: (request: ObservedRequest) => void;
    const request = new Promise<ObservedRequest>((resolve) => (tell = resolve));
    const done = request.then(() => stage.daemon.restart());
    const kill = async (killedAt: ObservedRequest): Promise<{ do: 'drop' | 'pass' }> => {
      await stage.daemon.kill();
      tell(killedAt);
      return { do: killedAt.kind === 'part' ? 'pass' : 'drop' }; // parts come from an executor, which lives
    };
    stage.observer.on({ nth: 1, ...match }, { [when]: kill });
    return { done, request };
  }

  /**
   * Up to CommitTask by one task alone: what another one opens at that moment, nobody might learn of, see the last
   * test.
   */
  async function writeWell(tasks: 1 | 2, step: Partial<WriteStep> = {}): Promise<StepResult> {
    const rows = { first: written.reduce((sum, { rows }) => sum + rows, 0), rows: rowsAWrite };
    const result = await stage.writeWell(table, { ...rows, tasks, ...step });
    written.push(rows);
    files += filesATask * tasks;
    return result;
  }

  async function expectKilledWell(kills: number, moment: { done: Promise<void> }): Promise<void> {
    expect(stage.daemon.kills).toBe(kills + 1);
    await moment.done;
    const rows = rowsAWrite * written.length;
    expect(await stage.reader.parquetRows(`warehouse/${table}/`)).toEqual({ files, rows });
    expect(await stage.visible(table)).toContain('_SUCCESS');
  }

  /** A decision is read by CommitTask after its record, and later by CommitJob. */
  const decisionOfTask: RequestMatch = {
    kind: 'get',
    key: /\/decision\.json$/,
    where: ({ seq }) =>
      stage.observer
        .select({ kind: 'put', key: record }, killedSince)
        .some((recordPut) => recordPut.seq < seq && recordPut.status !== undefined),
  };
  let killedSince = 0;

  it.each<[phase: string, name: string, moment: Moment]>([
    ['setupJob', 'before job.json is put', { when: 'before', match: put(/\/job\.json$/) }],
    ['setupJob', 'after', { when: 'after', match: put(/\/job\.json$/) }],
    ['writing', 'before the 1st upload is opened', { when: 'before', match: { kind: 'initiate' } }],
    ['writing', 'before the 3rd upload is opened', { when: 'before', match: { kind: 'initiate', nth: 3 } }],
    ['writing', 'while the 2nd part is sent', { when: 'before', match: { kind: 'part', nth: 2 } }],
    ['writing', 'when the 3rd part is there', { when: 'after', match: { kind: 'part', nth: 3 } }],
    ['commitTask', 'before the record is put', { when: 'before', match: put(record) }],
    ['commitTask', 'after', { when: 'after', match: put(record) }],
    ['commitTask', 'before it looks for a decision', { when: 'before', match: decisionOfTask }],
    ['commitTask', 'after it has', { when: 'after', match: decisionOfTask }],
    [
      'commitJob',
      'before records are listed',
      { when: 'before', match: { kind: 'list', key: /\/tasks\/$/ } },
    ],
    ['commitJob', 'before the plan is put', { when: 'before', match: put(/\/plan-/) }],
    ['commitJob', 'after', { when: 'after', match: put(/\/plan-/) }],
    ['commitJob', 'before the decision is put', { when: 'before', match: put(/\/decision\.json$/) }],
    ['commitJob', 'after', { when: 'after', match: put(/\/decision\.json$/) }],
    ['publication', 'before the 1st file is completed', { when: 'before', match: { kind: 'complete' } }],
    ['publication', 'after the 3rd', { when: 'after', match: { kind: 'complete', nth: 3 } }],
    ['publication', 'before the last', { when: 'before', match: { kind: 'complete', nth: 6 } }],
    ['publication', 'before ‘published’ is put', { when: 'before', match: put(outcome) }],
    ['publication', 'after', { when: 'after', match: put(outcome) }],
    ['publication', 'before the marker is put', { when: 'before', match: put(/\/_SUCCESS$/) }],
    ['publication', 'after', { when: 'after', match: put(/\/_SUCCESS$/) }],
    ['publication', 'before ‘done’ is put', { when: 'before', match: put(outcome, 2) }],
    ['publication', 'after', { when: 'after', match: put(outcome, 2) }],
    ['cleanup', 'before records are removed', { when: 'before', match: { kind: 'delete_many' } }],
  ])('%s, %s', async (phase, _name, moment) => {
    const kills = stage.daemon.kills;
    killedSince = stage.observer.lastSeq;
    const kill = killAt(moment);
    await writeWell(['setupJob', 'writing', 'commitTask'].includes(phase) ? 1 : 2);
    await kill.request;
    await expectKilledWell(kills, kill);
    stage.observer.clearRules();
    await stage.expectNothingLeft();
  });

  it.each(['before', 'after'] as const)('writing, %s a ledger segment is put', async (when) => {
    const kills = stage.daemon.kills;
    const parts = new Gate(stage.observer, { kind: 'part' }); // uploads that stay open come into the ledger
    const kill = killAt({ when, match: put(/\/opened\//) });
    const done = writeWell(1);
    await Promise.race([kill.request, done]);
    parts.open();
    await done;
    await expectKilledWell(kills, kill);
    await stage.expectNothingLeft();
  });

  it('writing, between the parts of a large file', async () => {
    const kills = stage.daemon.kills;
    const kill = killAt({
      when: 'before',
      match: { kind: 'part', where: ({ partNumber }) => partNumber === 3 },
    });
    const large = { format: 'csv', rows: 300, tasks: 1, value_bytes: 64 * 1024, partitioned: false } as const;
    await stage.writeWell('large', large);

    expect(stage.daemon.kills).toBe(kills + 1);
    await kill.done;
    await stage.expectRows('large', large, { first: 0, rows: large.rows });
    await stage.expectNothingLeft();
  });

  // The daemon alone knew of that upload, for less than the second that its ledger takes.
  it('writing, after an upload is opened: it is left to gc, and nothing else', async () => {
    const kills = stage.daemon.kills;
    const kill = killAt({ when: 'after', match: { kind: 'initiate' } });
    await writeWell(1);
    await expectKilledWell(kills, kill);
    const isUpload = (line: string): boolean => line.startsWith('upload ');
    await expect
      .poll(async () => (await stage.left()).filter((line) => !isUpload(line)), { timeout: 30_000 })
      .toEqual([]);
    const uploads = await stage.openUploads(table);
    expect(uploads.map((path) => `warehouse/${table}/${path}`)).toEqual([(await kill.request).key]);
    expect(await stage.left()).toHaveLength(1);

    const gc = ['gc', '--prefix', `${root}/${table}`, '--older-than', '0s', '--yes'];
    const { code, output } = await stage.daemon.command(...gc);
    expect(code, output).toBe(0);
    await stage.expectNothingLeft();
    await expectKilledWell(kills, kill);
  });

  it('and every row of every write is there once', async () => {
    await stage.expectRows(table, { format: 'parquet' }, ...written);
  });
});
