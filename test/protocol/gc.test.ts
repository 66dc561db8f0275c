import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryObjectStore } from '../../src/adapters/memory/memory-object-store.js';
import { collectGarbage, type GcOptions, type GcReport } from '../../src/app/gc.js';
import type { ListPageOptions, StoreCapabilities, UploadPageOptions } from '../../src/ports/object-store.js';
import {
  bucket,
  closeAllDaemons,
  expectError,
  smallParts,
  staging,
  startMemoryDaemon,
  TestJob,
  type Faults,
  type MemoryDaemon,
} from '../support/memory-daemon/index.js';

const day = 86_400_000;

/** Every listing comes in pages of 2. The store's clock stands still until a test moves it, far from the daemon's. */
class SmallPages extends MemoryObjectStore {
  static nowMs = 0;

  constructor(capabilities: Partial<StoreCapabilities> = {}) {
    super({
      buckets: [bucket],
      capabilities: { ...smallParts, ...capabilities },
      clock: { nowMs: () => SmallPages.nowMs },
    });
  }

  override list(name: string, prefix: string, page: ListPageOptions) {
    return super.list(name, prefix, { ...page, maxKeys: 2 });
  }

  override listUploads(name: string, prefix: string, page: UploadPageOptions) {
    return super.listUploads(name, prefix, { ...page, maxUploads: 2 });
  }
}

let memory: SmallPages;
let daemon: MemoryDaemon;
/** What runs gc: another process. */
let operator: MemoryDaemon;

async function start(capabilities: Partial<StoreCapabilities> = {}): Promise<void> {
  memory = new SmallPages(capabilities);
  daemon = await startMemoryDaemon({ memory });
  operator = await startMemoryDaemon({ memory });
}

beforeEach(async () => {
  SmallPages.nowMs = Date.UTC(1999, 11, 1);
  await start();
});
afterEach(closeAllDaemons);

const newJob = (options = {}) => new TestJob(daemon.client, memory, options);
const later = (ms: number) => (SmallPages.nowMs += ms);

async function gc(options: Partial<GcOptions> = {}): Promise<GcReport> {
  const report = await collectGarbage(operator.app.context, {
    ...{ olderThanMs: 7 * day, ttlMs: 7 * day, dryRun: false },
    ...options,
  });
  await operator.idle();
  return report;
}

/** The daemon dies at the first request that matches; the call never returns. */
async function dieAt(
  call: () => Promise<unknown>,
  matches: (key: string, op: string) => boolean,
  when: 'before' | 'after' = 'before',
) {
  let isDead = false;
  const faults: Faults = ({ key, op }) => {
    if (isDead) return { kill: 'before' };
    if (!matches(key, op)) return undefined;
    isDead = true;
    return { kill: when };
  };
  daemon.faults.watch(faults);
  const reached = daemon.faults.reached(({ key, op }) => matches(key, op));
  call().catch(() => undefined);
  await reached;
  await new Promise((resolve) => setTimeout(resolve, 5));
  daemon.kill();
  daemon = await startMemoryDaemon({ memory });
}

const everything = () => [memory.objects(bucket), memory.uploads(bucket)];

describe('an abandoned job', () => {
  it('is aborted where it is undecided: records and ledger, nothing visible, nothing left but the decision', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a', b: 'b' });
    await job.attempt(1).open('never closed');
    await daemon.close();
    expect(job.recordsLeft()).toHaveLength(2);

    later(8 * day);
    expect((await gc()).jobs).toEqual([
      {
        token: job.token,
        staging: `${bucket}/${staging}`,
        destination: job.destination.replace('s3a', 's3'),
        jobAttempts: [0],
        state: 'undecided',
        ending: 'abort',
        late: { records: 1, ledgerSegments: 1, uploads: 3 },
      },
    ]);
    expect(job.openUploads()).toEqual([]);
    expect(job.visible()).toEqual({});
    expect(job.staged()).toEqual(['0/decision.json', '0/job.json']);
    expect(job.fact('decision.json')).toMatchObject({ decision: 'abort', reason: /gc/ });
    await expectError(job.through(operator.client).commit(), 'JOB_ABORTED', /gc/);
  });

  it('is not abandoned while anything of any of its job attempts is younger', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    later(8 * day);
    const second = job.nextAttempt();
    await second.setup();
    later(6 * day);
    expect(await gc()).toMatchObject({ seen: 1, jobs: [] });
    expect(job.fact('decision.json')).toMatchObject({ decision: 'superseded' });
    await second.runTask(1, { b: 'b' });
    later(2 * day);
    expect((await gc()).jobs).toEqual([]);
    later(6 * day);
    expect((await gc()).jobs).toMatchObject([{ ending: 'abort', jobAttempts: [0, 1] }]);
    expect(job.openUploads()).toEqual([]);
  });

  it('is published where the commit was decided', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a', b: 'b' });
    await job.attempt(0, 1).write('loser', 'x');
    await dieAt(
      () => job.commit(),
      (_, op) => op === 'complete',
    );
    expect(job.visible()).toEqual({});

    expect((await gc()).jobs).toEqual([]);
    later(8 * day);
    expect((await gc()).jobs).toMatchObject([{ state: 'publishing', ending: 'finish' }]);
    expect(job.visible()).toEqual({ a: 'a', b: 'b' });
    expect(job.marker()).toBeDefined();
    expect(job.fact('outcome.json')).toMatchObject({ outcome: 'done' });
    expect(job.recordsLeft()).toEqual([]);
  });

  it('is finished where it was published: marker and losers', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'old attempt' });
    await job.runTask(0, { a: 'a' }, 1);
    await dieAt(
      () => job.commit(),
      (key) => key.endsWith('_SUCCESS'),
    );
    expect(job.openUploads()).toEqual(['a']);

    later(8 * day);
    expect((await gc()).jobs).toMatchObject([{ state: 'published', ending: 'finish' }]);
    expect(job.visible()).toEqual({ a: 'a' });
    expect(job.marker()).toBeDefined();
    expect(job.openUploads()).toEqual([]);
    expect(job.recordsLeft()).toEqual([]);
  });

  it('is undone where a rollback had begun', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a', b: 'b' });
    await dieAt(
      () => job.commit(),
      (key, op) => op === 'complete' && key.endsWith('/b'),
    );
    const again = job.through(daemon.client);
    await dieAt(
      () => again.abort(),
      (_, op) => op === 'abort',
    );
    expect(job.visible()).toEqual({ a: 'a' });

    later(8 * day);
    expect((await gc()).jobs).toMatchObject([{ state: 'rolling-back', ending: 'roll-back' }]);
    expect(job.visible()).toEqual({});
    expect(job.openUploads()).toEqual([]);
    expect(job.fact('outcome.json')).toMatchObject({ outcome: 'rolled-back' });
  });

  it('is rolled back where an upload was destroyed from outside and nothing was overwritten', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a', b: 'b', c: 'c' });
    await dieAt(
      () => job.commit(),
      (key, op) => op === 'complete' && key.endsWith('/b'),
      'after',
    );
    await destroyUpload('c');

    later(8 * day);
    expect((await gc()).jobs).toMatchObject([{ state: 'publishing', ending: 'roll-back' }]);
    expect(job.visible()).toEqual({});
    expect(job.openUploads()).toEqual([]);
    expect(job.fact('outcome.json')).toMatchObject({
      outcome: 'rolled-back',
      reason: /could not be finished/,
    });
  });

  it('is rolled back where somebody else made one of its keys meanwhile', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a', b: 'b' });
    await dieAt(
      () => job.commit(),
      (_, op) => op === 'complete',
    );
    await put(job, 'b', 'foreign');

    later(8 * day);
    expect((await gc()).jobs).toMatchObject([{ ending: 'roll-back' }]);
    expect(job.visible()).toEqual({ b: 'foreign' });
    expect(job.openUploads()).toEqual([]);
  });

  it('is left as it is where it overwrote keys and cannot be finished; the others are dealt with', async () => {
    const stuck = newJob({ token: 'a-stuck' });
    await put(stuck, 'a', 'before');
    await stuck.setup();
    await stuck.runTask(0, { a: 'a', b: 'b' });
    await dieAt(
      () => stuck.commit(),
      (key, op) => op === 'complete' && key.endsWith('/a'),
    );
    await destroyUpload('a');
    const other = newJob({ token: 'b-other' });
    await other.setup();

    later(8 * day);
    const report = await gc();
    expect(report.jobs).toMatchObject([
      { token: 'a-stuck', problem: /upload.*is gone.*FOREIGN_OBJECT/ },
      { token: 'b-other', ending: 'abort' },
    ]);
    expect(stuck.visible()).toEqual({ a: 'before', b: 'b' });
    expect(stuck.fact('outcome.json')).toBeUndefined();
  });

  it('is aborted under the number of a successor that died before its job.json', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    const second = job.nextAttempt();
    await dieAt(
      () => second.setup(),
      (key) => key.endsWith('1/job.json'),
    );
    expect(job.fact('decision.json')).toMatchObject({ decision: 'superseded', by: 1 });

    later(8 * day);
    expect((await gc()).jobs).toMatchObject([{ state: 'undecided', ending: 'abort' }]);
    expect(job.openUploads()).toEqual([]);
    expect(job.recordsLeft()).toEqual([]);
    expect(second.fact('decision.json')).toMatchObject({ decision: 'abort' });
    await expectError(second.through(daemon.client).setup(), 'JOB_ABORTED');
  });

  it('follows the decision that its later attempt adopted, and aborts what that one wrote besides', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    await dieAt(
      () => job.commit(),
      (_, op) => op === 'complete',
    );
    const second = job.through(daemon.client, { jobAttempt: 1, setupId: randomUUID() });
    await second.setup();
    await second.runTask(0, { a: 'rerun' }, 1);

    later(8 * day);
    expect((await gc()).jobs).toMatchObject([{ state: 'publishing', ending: 'finish' }]);
    expect(job.visible()).toEqual({ a: 'a' });
    expect(job.openUploads()).toEqual([]);
    expect(job.recordsLeft()).toEqual([]);
    expect(await second.commit()).toEqual({ files: '1', bytes: '1', tasks: '1' });
  });

  it('changes nothing in a dry run, and says the same as the run', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    const done = newJob();
    await done.setup();
    await done.commit();
    await daemon.idle();
    later(8 * day);
    const before = everything();
    const dry = await gc({ dryRun: true });
    expect(everything()).toEqual(before);
    expect(dry.jobs).toHaveLength(2);
    // What the abort decision makes of the records is known only when there is one.
    const run = await gc();
    const comparable = ({ jobs }: GcReport) => jobs.map(({ late: _, ...rest }) => rest);
    expect(comparable(run)).toEqual(comparable(dry));
  });
});

describe('an ended job', () => {
  it('keeps its facts until nothing of it is younger than the time to live, then loses them', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    await job.commit();
    await daemon.idle();
    later(7 * day - 1);
    expect((await gc()).jobs).toEqual([]);
    expect(await job.through(operator.client).commit()).toMatchObject({ files: '1' });
    expect(await job.abort()).toEqual({ published: true });

    later(1);
    expect((await gc()).jobs).toMatchObject([{ state: 'done', collected: 4 }]);
    expect(job.staged()).toEqual([]);
    expect(job.visible()).toEqual({ a: 'a' });
    await expectError(job.commit(), 'JOB_NOT_FOUND', /collected/);
  });

  it('is collected with all its attempts, those that point to another first', async () => {
    const job = newJob();
    await job.setup();
    const second = job.nextAttempt();
    await second.setup();
    await second.runTask(0, { a: 'a' });
    await dieAt(
      () => second.commit(),
      (_, op) => op === 'complete',
    );
    const third = second.through(daemon.client, { jobAttempt: 2, setupId: randomUUID() });
    await third.setup();
    await third.commit();
    await daemon.idle();

    later(8 * day);
    operator.faults.watch();
    expect((await gc()).jobs).toMatchObject([{ state: 'done', jobAttempts: [0, 1, 2] }]);
    const removed = operator.faults.calls
      .filter(({ op, key }) => op === 'delete' && key.includes(job.token))
      .map(({ key }) => key.slice(key.indexOf(job.token) + job.token.length + 1).replace(/plan-.*/, 'plan'));
    expect(removed).toEqual([
      '0/job.json',
      '0/decision.json',
      '2/job.json',
      '1/plan',
      '1/job.json',
      '1/outcome.json',
      '1/decision.json',
    ]);
    expect(job.staged()).toEqual([]);
  });

  it('stays ended at every moment of its collection, and the next gc goes on', async () => {
    for (let k = 1; k <= 4; k++) {
      const job = newJob();
      await job.setup();
      await job.runTask(0, { a: 'a' });
      await job.commit();
      await daemon.idle();
      later(8 * day);
      operator.faults.watch(({ op, key }) => {
        if (op !== 'delete' || !key.includes(job.token)) return undefined;
        const left = job.staged().length;
        return left === 5 - k ? { fail: k % 2 === 0 ? 'before' : 'after' } : undefined;
      });
      expect((await gc()).jobs).toMatchObject([{ problem: /fault/ }]);
      operator.faults.watch();
      const { client } = await startMemoryDaemon({ memory });
      const late = job.through(client);
      if (job.staged().length > 0) {
        await expectError(late.setup(), 'JOB_COMMITTED');
        await late.abort().catch(() => undefined);
        await late.commit().catch(() => undefined);
      }
      expect(job.visible()).toEqual({ a: 'a' });
      later(8 * day);
      await gc();
      expect(job.visible()).toEqual({ a: 'a' });
      expect(job.staged()).toEqual([]);
    }
  });

  it.each([{ conditionalDelete: true }, { conditionalDelete: false }])(
    'of a token that is in use again loses nothing to a second gc (%o)',
    async (capabilities) => {
      await closeAllDaemons();
      await start(capabilities);
      const job = newJob();
      await job.setup({}, { description: 'first' });
      await job.commit();
      await daemon.idle();
      later(8 * day);

      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const isRemoval = ({ op, key }: { op: string; key: string }) =>
        op === (capabilities.conditionalDelete ? 'delete' : 'head') &&
        key.endsWith(`${job.token}/0/job.json`);
      operator.faults.watch((call) => (isRemoval(call) ? { hold: 'before', until: held } : undefined));
      const slow = gc();
      await operator.faults.reached(isRemoval);
      const second = await startMemoryDaemon({ memory });
      await collectGarbage(second.app.context, { olderThanMs: 7 * day, ttlMs: 7 * day, dryRun: false });
      expect(job.staged()).toEqual([]);
      const again = job.through(second.client, { setupId: randomUUID() });
      await again.setup({}, { description: 'second' });
      await again.runTask(0, { a: 'a' });
      await again.commit();
      const facts = again.staged();

      release();
      await slow;
      expect(again.staged()).toEqual(facts);
      expect(await again.commit()).toMatchObject({ files: '1' });
    },
  );

  it('has late records of losers processed and removed; a late record of a winner goes, its files stay', async () => {
    const job = newJob();
    await job.setup();
    const zombie = job.attempt(0, 1);
    await zombie.write('zombie', 'x');
    await job.runTask(0, { a: 'a' });
    const key = `${staging}/${job.token}/0/tasks/m-000000/0`;
    const record = memory.objects(bucket).find((object) => object.key === key)!;
    const other = await startMemoryDaemon({ memory });
    await job.through(other.client).commit();
    await other.idle();
    await dieAt(
      () => zombie.commit(),
      (name, op) => op === 'put' && name.includes('/tasks/'),
      'after',
    );
    // A PUT of a replayed CommitTask that had read the decision before.
    await memory.put({ bucket, key }, record.body, {});
    expect(job.recordsLeft()).toHaveLength(2);
    expect(job.openUploads()).toEqual(['zombie']);

    expect((await gc()).jobs).toMatchObject([
      { state: 'done', late: { records: 2, ledgerSegments: 0, uploads: 1 } },
    ]);
    expect(job.recordsLeft()).toEqual([]);
    expect(job.openUploads()).toEqual([]);
    expect(job.visible()).toEqual({ a: 'a' });
  });

  it('has late ledger segments processed, also of an attempt that adopted', async () => {
    const job = newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    await dieAt(
      () => job.commit(),
      (_, op) => op === 'complete',
    );
    const second = job.through(daemon.client, { jobAttempt: 1, setupId: randomUUID() });
    await second.setup();
    await second.commit();
    await second.attempt(3).open('late');
    await daemon.close();
    expect(second.openUploads()).toEqual(['late']);

    expect((await gc()).jobs).toMatchObject([{ late: { ledgerSegments: 1, uploads: 1 } }]);
    expect(second.openUploads()).toEqual([]);
    expect(job.recordsLeft()).toEqual([]);
    expect(job.visible()).toEqual({ a: 'a' });
  });

  it('is left alone where something unknown lies among its facts', async () => {
    const job = newJob();
    await job.setup();
    await job.commit();
    await daemon.idle();
    await memory.put({ bucket, key: `${staging}/${job.token}/0/notes.txt` }, Buffer.from('mine'), {});
    later(8 * day);
    expect((await gc()).jobs).toEqual([]);
    expect(job.staged()).toContain('0/notes.txt');
    expect(job.fact('decision.json')).toBeDefined();
  });
});

describe('gc beside a running job', () => {
  it('between any two of its requests, with every age forced, leaves all of its files or none', async () => {
    for (let k = 1, isOver = false; !isOver; k++) {
      const job = newJob();
      let ran: Promise<unknown> | undefined;
      daemon.faults.watch(({ index }) => {
        if (index !== k) return undefined;
        ran = gc({ olderThanMs: -1 });
        return { hold: 'before', until: ran };
      });
      const result = await runJob(job);
      isOver = ran === undefined;
      await ran;
      await daemon.idle();
      expect(job.visible(), `gc before request ${k}`).toEqual(
        result === 'committed' ? { a: 'a', b: 'b' } : {},
      );
      await gc({ olderThanMs: -1 });
      expect(job.visible(), `gc before request ${k}`).toEqual(
        result === 'committed' ? { a: 'a', b: 'b' } : {},
      );
      expect(job.recordsLeft()).toEqual([]);
      // What was opened after the job was ended is in the ledger of a daemon that runs.
      await daemon.close();
      await gc({ olderThanMs: -1 });
      expect(job.openUploads(), `gc before request ${k}`).toEqual([]);
      daemon = await startMemoryDaemon({ memory });
    }
  });

  it('does nothing to it while it is young', async () => {
    for (let k = 1, isOver = false; !isOver; k++) {
      const job = newJob();
      let ran: Promise<GcReport> | undefined;
      daemon.faults.watch(({ index }) => {
        if (index !== k) return undefined;
        ran = gc();
        return { hold: 'before', until: ran };
      });
      expect(await runJob(job), `gc before request ${k}`).toBe('committed');
      isOver = ran === undefined;
      expect(job.visible()).toEqual({ a: 'a', b: 'b' });
      await daemon.idle();
      expect(job.recordsLeft()).toEqual([]);
    }
  });

  async function runJob(job: TestJob): Promise<'committed' | 'failed'> {
    try {
      await job.setup();
      await job.runTask(0, { a: 'a' });
      await job.runTask(1, { b: 'b' });
      await job.commit();
      return 'committed';
    } catch {
      return 'failed';
    }
  }
});

describe('gc with a prefix', () => {
  it('ends only jobs whose destination lies under it', async () => {
    const inside = newJob({ destination: `s3a://${bucket}/w/t1` });
    const beside = newJob({ destination: `s3a://${bucket}/w/t10` });
    for (const job of [inside, beside]) {
      await job.setup();
      await job.runTask(0, { a: 'a' });
    }
    later(8 * day);
    const report = await gc({ prefix: `s3://${bucket}/w/t1` });
    expect(report.jobs.map(({ token }) => token)).toEqual([inside.token]);
    expect(inside.openUploads()).toEqual([]);
    expect(beside.openUploads()).toEqual(['a']);
    expect(beside.fact('decision.json')).toBeUndefined();
  });

  it('aborts uploads there that no ledger saw once they are old, and spares those of running jobs', async () => {
    const destination = `s3a://${bucket}/w/t2`;
    const initiate = (key: string) => memory.initiate({ bucket, key }, {});
    for (const key of ['w/t2/orphan-1', 'w/t2/orphan-2', 'w/t2/orphan-3', 'w/t20/neighbour'])
      await initiate(key);
    const running = newJob({ destination });
    await running.setup();
    await running.runTask(0, { recorded: 'x' });
    later(7 * day);
    await initiate('w/t2/young');
    await running.runTask(1, { recent: 'x' });

    const dry = await gc({ prefix: destination, dryRun: true });
    expect(dry.uploads?.aborted.map(({ uri }) => uri)).toEqual(
      [1, 2, 3].map((n) => `s3://${bucket}/w/t2/orphan-${n}`),
    );
    expect(memory.uploads(bucket)).toHaveLength(7);
    const report = await gc({ prefix: destination });
    expect(report.jobs).toEqual([]);
    expect(report.uploads).toEqual(dry.uploads);
    expect(report.uploads?.kept).toMatchObject([
      { token: running.token, ageMs: 7 * day, isOfRunningJob: true },
    ]);
    expect(memory.uploads(bucket).map(({ key }) => key)).toEqual([
      'w/t2/recent',
      'w/t2/recorded',
      'w/t2/young',
      'w/t20/neighbour',
    ]);
    expect(await running.commit()).toMatchObject({ files: '2' });
  });

  it('without a prefix touches no upload that none of its records and ledgers names', async () => {
    await memory.initiate({ bucket, key: 'w/t3/orphan' }, {});
    later(30 * day);
    expect((await gc()).uploads).toBeUndefined();
    expect(memory.uploads(bucket)).toHaveLength(1);
  });

  it('says so where the store lists by exact key only, and ends the jobs all the same', async () => {
    await closeAllDaemons();
    await start({ listUploadsByPrefix: false });
    const job = newJob();
    await job.setup();
    later(8 * day);
    const report = await gc({ prefix: `s3a://${bucket}/tables` });
    expect(report.uploadsProblem).toMatch(/exact key only.*lifecycle/);
    expect(report.jobs).toHaveLength(1);
  });
});

describe('the time of the store', () => {
  it('is asked by a probe that is gone afterwards; one that a killed gc left goes when it is old', async () => {
    const names = () => memory.objects(bucket).map(({ key }) => key);
    await gc();
    expect(names()).toEqual([]);
    operator.faults.watch(({ op, key }) =>
      op === 'delete' && key.includes('.commitbridge-gc-') ? { fail: 'before' } : undefined,
    );
    await gc();
    expect(names()).toHaveLength(1);
    operator.faults.watch();
    await gc();
    expect(names()).toHaveLength(1);
    later(2 * 3_600_000);
    await gc();
    expect(names()).toEqual([]);
  });
});

async function put(job: TestJob, name: string, content: string): Promise<void> {
  const key = `${job.destination.replace(`s3a://${bucket}/`, '')}/${name}`;
  await memory.put({ bucket, key }, Buffer.from(content), {});
}

/** As a lifecycle rule or another tool does. */
async function destroyUpload(name: string): Promise<void> {
  const upload = memory.uploads(bucket).find(({ key }) => key.endsWith(`/${name}`))!;
  await memory.abort(upload);
}
