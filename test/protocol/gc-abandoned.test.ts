import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { day, GcScene } from '../support/gc-scene.js';
import { bucket, closeAllDaemons, expectError, staging } from '../support/memory-daemon/index.js';

let scene: GcScene;
beforeEach(async () => {
  scene = await GcScene.start();
});
afterEach(closeAllDaemons);

describe('an abandoned job', () => {
  it('is aborted where it is undecided: records and ledger, nothing visible, nothing left but the decision', async () => {
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { a: 'a', b: 'b' });
    await job.attempt(1).open('never closed');
    await scene.daemon.close();
    expect(job.recordsLeft()).toHaveLength(2);

    scene.later(8 * day);
    expect((await scene.gc()).jobs).toEqual([
      {
        token: job.token,
        staging: `${bucket}/${staging}`,
        destination: job.destination.replace('s3a', 's3'),
        jobAttempts: [0],
        state: 'undecided',
        ending: 'abort',
        late: { records: 1, ledgerSegments: 1, closedFiles: 0, claims: 0, uploads: 3 },
      },
    ]);
    expect(job.openUploads()).toEqual([]);
    expect(job.visible()).toEqual({});
    expect(job.staged()).toEqual(['0/decision.json', '0/job.json']);
    expect(job.fact('decision.json')).toMatchObject({ decision: 'abort', reason: /gc/ });
    await expectError(job.through(scene.operator.client).commit(), 'JOB_ABORTED', /gc/);
  });

  it('is not abandoned while anything of any of its job attempts is younger', async () => {
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    scene.later(8 * day);
    const second = job.nextAttempt();
    await second.setup();
    scene.later(6 * day);
    expect(await scene.gc()).toMatchObject({ seen: 1, jobs: [] });
    expect(job.fact('decision.json')).toMatchObject({ decision: 'superseded' });
    await second.runTask(1, { b: 'b' });
    scene.later(2 * day);
    expect((await scene.gc()).jobs).toEqual([]);
    scene.later(6 * day);
    expect((await scene.gc()).jobs).toMatchObject([{ ending: 'abort', jobAttempts: [0, 1] }]);
    expect(job.openUploads()).toEqual([]);
  });

  it('is published where the commit was decided', async () => {
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { a: 'a', b: 'b' });
    await job.attempt(0, 1).write('loser', 'x');
    await scene.dieAt(
      () => job.commit(),
      (_, op) => op === 'complete',
    );
    expect(job.visible()).toEqual({});

    expect((await scene.gc()).jobs).toEqual([]);
    scene.later(8 * day);
    expect((await scene.gc()).jobs).toMatchObject([{ state: 'publishing', ending: 'finish' }]);
    expect(job.visible()).toEqual({ a: 'a', b: 'b' });
    expect(job.marker()).toBeDefined();
    expect(job.fact('outcome.json')).toMatchObject({ outcome: 'done' });
    expect(job.recordsLeft()).toEqual([]);
  });

  it('is finished where it was published: marker and losers', async () => {
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { a: 'old attempt' });
    await job.runTask(0, { a: 'a' }, 1);
    await scene.dieAt(
      () => job.commit(),
      (key) => key.endsWith('_SUCCESS'),
    );
    expect(job.openUploads()).toEqual(['a']);

    scene.later(8 * day);
    expect((await scene.gc()).jobs).toMatchObject([{ state: 'published', ending: 'finish' }]);
    expect(job.visible()).toEqual({ a: 'a' });
    expect(job.marker()).toBeDefined();
    expect(job.openUploads()).toEqual([]);
    expect(job.recordsLeft()).toEqual([]);
  });

  it('is undone where a rollback had begun', async () => {
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { a: 'a', b: 'b' });
    await scene.dieAt(
      () => job.commit(),
      (key, op) => op === 'complete' && key.endsWith('/b'),
    );
    const again = job.through(scene.daemon.client);
    await scene.dieAt(
      () => again.abort(),
      (_, op) => op === 'abort',
    );
    expect(job.visible()).toEqual({ a: 'a' });

    scene.later(8 * day);
    expect((await scene.gc()).jobs).toMatchObject([{ state: 'rolling-back', ending: 'roll-back' }]);
    expect(job.visible()).toEqual({});
    expect(job.openUploads()).toEqual([]);
    expect(job.fact('outcome.json')).toMatchObject({ outcome: 'rolled-back' });
  });

  it('is rolled back where an upload was destroyed from outside and nothing was overwritten', async () => {
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { a: 'a', b: 'b', c: 'c' });
    await scene.dieAt(
      () => job.commit(),
      (key, op) => op === 'complete' && key.endsWith('/b'),
      'after',
    );
    await scene.destroyUpload('c');

    scene.later(8 * day);
    expect((await scene.gc()).jobs).toMatchObject([{ state: 'publishing', ending: 'roll-back' }]);
    expect(job.visible()).toEqual({});
    expect(job.openUploads()).toEqual([]);
    expect(job.fact('outcome.json')).toMatchObject({
      outcome: 'rolled-back',
      reason: /could not be finished/,
    });
  });

  it.each(['CONFLICT_MODE_APPEND', 'CONFLICT_MODE_FAIL'] as const)(
    'is rolled back where somebody else made one of its keys meanwhile (%s)',
    async (conflictMode) => {
      const job = scene.newJob();
      await job.setup({ conflictMode });
      await job.runTask(0, { a: 'a', b: 'b' });
      await scene.dieAt(
        () => job.commit(),
        (_, op) => op === 'complete',
      );
      await scene.put(job, 'b', 'foreign');

      scene.later(8 * day);
      // Where a condition is dear, Completes have it in mode fail only: docs/oss.md.
      const isReplaced =
        scene.memory.capabilities.dearConditionalComplete && conflictMode === 'CONFLICT_MODE_APPEND';
      expect((await scene.gc()).jobs).toMatchObject([{ ending: isReplaced ? 'finish' : 'roll-back' }]);
      expect(job.visible()).toEqual(isReplaced ? { a: 'a', b: 'b' } : { b: 'foreign' });
      expect(job.openUploads()).toEqual([]);
    },
  );

  it('is left as it is where it overwrote keys and cannot be finished; the others are dealt with', async () => {
    const stuck = scene.newJob({ token: 'a-stuck' });
    await scene.put(stuck, 'a', 'before');
    await stuck.setup();
    await stuck.runTask(0, { a: 'a', b: 'b' });
    await scene.dieAt(
      () => stuck.commit(),
      (key, op) => op === 'complete' && key.endsWith('/a'),
    );
    await scene.destroyUpload('a');
    const other = scene.newJob({ token: 'b-other' });
    await other.setup();

    scene.later(8 * day);
    const report = await scene.gc();
    expect(report.jobs).toMatchObject([
      { token: 'a-stuck', problem: /upload.*is gone.*FOREIGN_OBJECT/ },
      { token: 'b-other', ending: 'abort' },
    ]);
    expect(stuck.visible()).toEqual({ a: 'before', b: 'b' });
    expect(stuck.fact('outcome.json')).toBeUndefined();
  });

  it('is aborted under the number of a successor that died before its job.json', async () => {
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    const second = job.nextAttempt();
    await scene.dieAt(
      () => second.setup(),
      (key) => key.endsWith('1/job.json'),
    );
    expect(job.fact('decision.json')).toMatchObject({ decision: 'superseded', by: 1 });

    scene.later(8 * day);
    expect((await scene.gc()).jobs).toMatchObject([{ state: 'undecided', ending: 'abort' }]);
    expect(job.openUploads()).toEqual([]);
    expect(job.recordsLeft()).toEqual([]);
    expect(second.fact('decision.json')).toMatchObject({ decision: 'abort' });
    await expectError(second.through(scene.daemon.client).setup(), 'JOB_ABORTED');
  });

  it('follows the decision that its later attempt adopted, and aborts what that one wrote besides', async () => {
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    await scene.dieAt(
      () => job.commit(),
      (_, op) => op === 'complete',
    );
    const second = job.through(scene.daemon.client, { jobAttempt: 1, setupId: randomUUID() });
    await second.setup();
    await second.runTask(0, { a: 'rerun' }, 1);

    scene.later(8 * day);
    expect((await scene.gc()).jobs).toMatchObject([{ state: 'publishing', ending: 'finish' }]);
    expect(job.visible()).toEqual({ a: 'a' });
    expect(job.openUploads()).toEqual([]);
    expect(job.recordsLeft()).toEqual([]);
    expect(await second.commit()).toEqual({ files: '1', bytes: '1', tasks: '1' });
  });

  it('changes nothing in a dry run, and says the same as the run', async () => {
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    const done = scene.newJob();
    await done.setup();
    await done.commit();
    await scene.daemon.idle();
    scene.later(8 * day);
    const before = scene.everything();
    const dry = await scene.gc({ dryRun: true });
    expect(scene.everything()).toEqual(before);
    expect(dry.jobs).toHaveLength(2);
    expect(await scene.gc()).toEqual({ ...dry, dryRun: false });
  });
});
