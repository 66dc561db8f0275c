import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { day, GcScene } from '../support/gc-scene.js';
import { bucket, closeAllDaemons } from '../support/memory-daemon/index.js';

let scene: GcScene;
beforeEach(async () => {
  scene = await GcScene.start();
});
afterEach(closeAllDaemons);

describe('gc with a prefix', () => {
  it('ends only jobs whose destination lies under it', async () => {
    const inside = scene.newJob({ destination: `s3a://${bucket}/w/t1` });
    const beside = scene.newJob({ destination: `s3a://${bucket}/w/t10` });
    for (const job of [inside, beside]) {
      await job.setup();
      await job.runTask(0, { a: 'a' });
    }
    scene.later(8 * day);
    const report = await scene.gc({ prefix: `s3://${bucket}/w/t1` });
    expect(report.jobs.map(({ token }) => token)).toEqual([inside.token]);
    expect(inside.openUploads()).toEqual([]);
    expect(beside.openUploads()).toEqual(['a']);
    expect(beside.fact('decision.json')).toBeUndefined();
  });

  it('aborts uploads there that no ledger saw once they are old, and spares those of running jobs', async () => {
    const destination = `s3a://${bucket}/w/t2`;
    const initiate = (key: string) => scene.memory.initiate({ bucket, key }, {});
    for (const key of ['w/t2/orphan-1', 'w/t2/orphan-2', 'w/t2/orphan-3', 'w/t20/neighbour'])
      await initiate(key);
    const running = scene.newJob({ destination });
    await running.setup();
    await running.runTask(0, { recorded: 'x' });
    scene.later(7 * day);
    await initiate('w/t2/young');
    await running.runTask(1, { recent: 'x' });

    const dry = await scene.gc({ prefix: destination, dryRun: true });
    expect(dry.uploads?.aborted.map(({ uri }) => uri)).toEqual(
      [1, 2, 3].map((n) => `s3://${bucket}/w/t2/orphan-${n}`),
    );
    expect(scene.memory.uploads(bucket)).toHaveLength(7);
    const report = await scene.gc({ prefix: destination });
    expect(report.jobs).toEqual([]);
    expect(report.uploads).toEqual(dry.uploads);
    expect(report.uploads?.kept).toMatchObject([
      { token: running.token, ageMs: 7 * day, isOfRunningJob: true },
    ]);
    expect(scene.memory.uploads(bucket).map(({ key }) => key)).toEqual([
      'w/t2/recent',
      'w/t2/recorded',
      'w/t2/young',
      'w/t20/neighbour',
    ]);
    expect(await running.commit()).toMatchObject({ files: '2' });
  });

  it('without a prefix touches no upload that none of its records and ledgers names', async () => {
    await scene.memory.initiate({ bucket, key: 'w/t3/orphan' }, {});
    scene.later(30 * day);
    expect((await scene.gc()).uploads).toBeUndefined();
    expect(scene.memory.uploads(bucket)).toHaveLength(1);
  });

  it('says so where the store lists by exact key only, and ends the jobs all the same', async () => {
    await closeAllDaemons();
    scene = await GcScene.start({ listUploadsByPrefix: false });
    const job = scene.newJob();
    await job.setup();
    scene.later(8 * day);
    const report = await scene.gc({ prefix: `s3a://${bucket}/tables` });
    expect(report.uploadsProblem).toMatch(/exact key only.*lifecycle/);
    expect(report.jobs).toHaveLength(1);
  });
});

describe('the time of the store', () => {
  it('is asked by a probe that is gone afterwards; one that a killed gc left goes when it is old', async () => {
    const names = () => scene.memory.objects(bucket).map(({ key }) => key);
    await scene.gc();
    expect(names()).toEqual([]);
    scene.operator.faults.watch(({ op, key }) =>
      op === 'delete' && key.includes('.commitbridge-gc-') ? { fail: 'before' } : undefined,
    );
    await scene.gc();
    expect(names()).toHaveLength(1);
    scene.operator.faults.watch();
    await scene.gc();
    expect(names()).toHaveLength(1);
    scene.later(2 * 3_600_000);
    await scene.gc();
    expect(names()).toEqual([]);
  });
});
