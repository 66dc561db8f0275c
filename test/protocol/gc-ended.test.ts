import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collectGarbage } from '../../src/app/gc.js';
import { day, GcScene } from '../support/gc-scene.js';
import {
  bucket,
  closeAllDaemons,
  expectError,
  isOnOss,
  staging,
  type TestJob,
} from '../support/memory-daemon/index.js';

let scene: GcScene;
beforeEach(async () => {
  scene = await GcScene.start();
});
afterEach(closeAllDaemons);

describe('an ended job', () => {
  it('keeps its facts until nothing of it is younger than the time to live, then loses them', async () => {
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    await job.commit();
    await scene.daemon.idle();
    scene.later(7 * day - 1);
    expect((await scene.gc()).jobs).toEqual([]);
    expect(await job.through(scene.operator.client).commit()).toMatchObject({ files: '1' });
    expect(await job.abort()).toEqual({ published: true });

    scene.later(1);
    expect((await scene.gc()).jobs).toMatchObject([{ state: 'done', collected: 4 }]);
    expect(job.staged()).toEqual([]);
    expect(job.visible()).toEqual({ a: 'a' });
    await expectError(job.commit(), 'JOB_NOT_FOUND', /collected/);
  });

  it('is collected with all its attempts, those that point to another first', async () => {
    const job = scene.newJob();
    await job.setup();
    const second = job.nextAttempt();
    await second.setup();
    await second.runTask(0, { a: 'a' });
    await scene.dieAt(
      () => second.commit(),
      (_, op) => op === 'complete',
    );
    const third = second.through(scene.daemon.client, { jobAttempt: 2, setupId: randomUUID() });
    await third.setup();
    await third.commit();
    await scene.daemon.idle();

    scene.later(8 * day);
    scene.operator.faults.watch();
    expect((await scene.gc()).jobs).toMatchObject([{ state: 'done', jobAttempts: [0, 1, 2] }]);
    const removed = scene.operator.faults.calls
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
      const job = scene.newJob();
      await job.setup();
      await job.runTask(0, { a: 'a' });
      await job.commit();
      await scene.daemon.idle();
      scene.later(8 * day);
      scene.operator.faults.watch(({ op, key }) => {
        if (op !== 'delete' || !key.includes(job.token)) return undefined;
        const left = job.staged().length;
        return left === 5 - k ? { fail: k % 2 === 0 ? 'before' : 'after' } : undefined;
      });
      expect((await scene.gc()).jobs).toMatchObject([{ problem: /fault/ }]);
      scene.operator.faults.watch();
      const { client } = await scene.startDaemon();
      const late = job.through(client);
      if (job.staged().length > 0) {
        await expectError(late.setup(), 'JOB_COMMITTED');
        await late.abort().catch(() => undefined);
        await late.commit().catch(() => undefined);
        // Its outcome may be gone already: that is no publication to undo.
        expect(job.fact('outcome.json')?.['outcome']).not.toBe('rollback');
      }
      expect(job.visible()).toEqual({ a: 'a' });
      scene.later(8 * day);
      await scene.gc();
      expect(job.visible()).toEqual({ a: 'a' });
      expect(job.staged()).toEqual([]);
    }
  });

  // OSS has no condition on DELETE, whatever it is told.
  it.each(
    isOnOss() ? [{ conditionalDelete: false }] : [{ conditionalDelete: true }, { conditionalDelete: false }],
  )('of a token that is in use again loses nothing to a second gc (%o)', async (capabilities) => {
    await closeAllDaemons();
    scene = await GcScene.start(capabilities);
    const job = scene.newJob();
    // Two attempts and no file: the plan of the second use is the same object as that of the first.
    const use = async (first: TestJob, description: string) => {
      await first.setup({}, { description });
      const last = first.nextAttempt();
      await last.setup({}, { description });
      await last.commit();
      return last;
    };
    await use(job, 'first');
    await scene.daemon.idle();
    scene.later(8 * day);

    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const isRemoval = ({ op, key }: { op: string; key: string }) =>
      op === (capabilities.conditionalDelete ? 'delete' : 'head') && key.endsWith(`${job.token}/0/job.json`);
    scene.operator.faults.watch((call) => (isRemoval(call) ? { hold: 'before', until: held } : undefined));
    const slow = scene.gc();
    await scene.operator.faults.reached(isRemoval);
    const second = await scene.startDaemon();
    await collectGarbage(second.app.context, { olderThanMs: 7 * day, ttlMs: 7 * day, dryRun: false });
    expect(job.staged()).toEqual([]);
    const again = await use(job.through(second.client, { setupId: randomUUID() }), 'second');
    const facts = again.staged();
    expect(facts.filter((name) => name.startsWith('1/plan-'))).toHaveLength(1);

    release();
    await slow;
    expect(again.staged()).toEqual(facts);
    expect(await again.commit()).toMatchObject({ files: '0' });
  });

  it('has late records of losers processed and removed; a late record of a winner goes, its files stay', async () => {
    const job = scene.newJob();
    await job.setup();
    const zombie = job.attempt(0, 1);
    await zombie.write('zombie', 'x');
    await job.runTask(0, { a: 'a' });
    const key = `${staging}/${job.token}/0/tasks/m-000000/0`;
    const record = scene.memory.objects(bucket).find((object) => object.key === key)!;
    const other = await scene.startDaemon();
    await job.through(other.client).commit();
    await other.idle();
    await scene.dieAt(
      () => zombie.commit(),
      (name, op) => op === 'put' && name.includes('/tasks/'),
      'after',
    );
    // A PUT of a replayed CommitTask that had read the decision before.
    await scene.memory.put({ bucket, key }, record.body, {});
    expect(job.recordsLeft()).toHaveLength(2);
    expect(job.openUploads()).toEqual(['zombie']);

    const before = scene.everything();
    const dry = await scene.gc({ dryRun: true });
    expect(scene.everything()).toEqual(before);
    expect(dry.jobs).toMatchObject([{ state: 'done', late: { records: 2, ledgerSegments: 0, uploads: 1 } }]);
    expect((await scene.gc()).jobs).toEqual(dry.jobs);
    expect(job.recordsLeft()).toEqual([]);
    expect(job.openUploads()).toEqual([]);
    expect(job.visible()).toEqual({ a: 'a' });
  });

  it('has late ledger segments processed, also of an attempt that adopted', async () => {
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    await scene.dieAt(
      () => job.commit(),
      (_, op) => op === 'complete',
    );
    const second = job.through(scene.daemon.client, { jobAttempt: 1, setupId: randomUUID() });
    await second.setup();
    await second.commit();
    await second.attempt(3).open('late');
    await scene.daemon.close();
    expect(second.openUploads()).toEqual(['late']);

    expect((await scene.gc()).jobs).toMatchObject([{ late: { ledgerSegments: 1, uploads: 1 } }]);
    expect(second.openUploads()).toEqual([]);
    expect(job.recordsLeft()).toEqual([]);
    expect(job.visible()).toEqual({ a: 'a' });
  });

  it('is left alone where something unknown lies among its facts', async () => {
    const job = scene.newJob();
    await job.setup();
    await job.commit();
    await scene.daemon.idle();
    await scene.memory.put({ bucket, key: `${staging}/${job.token}/0/notes.txt` }, Buffer.from('mine'), {});
    scene.later(8 * day);
    expect((await scene.gc()).jobs).toEqual([]);
    expect(job.staged()).toContain('0/notes.txt');
    expect(job.fact('decision.json')).toBeDefined();
  });

  it('leaves nothing of its options to the next use of its token, not even in a daemon that remembers it', async () => {
    const first = scene.newJob();
    await first.setup({ conflictMode: 'CONFLICT_MODE_REPLACE' });
    await first.commit();
    await scene.daemon.idle();
    scene.later(8 * day);
    await scene.gc();
    const next = first.through(scene.operator.client, { setupId: randomUUID() });
    await next.setup();
    await scene.put(next, 'old', 'old');
    await next.runTask(0, { a: 'a' });
    await next.through(scene.daemon.client).commit();
    expect(next.visible()).toEqual({ a: 'a', old: 'old' });
  });
});
