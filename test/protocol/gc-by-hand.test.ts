import { afterEach, describe, expect, it } from 'vitest';
import { abortOpenUploads, listOpenUploads } from '../../src/app/uploads.js';
import { day, GcScene } from '../support/gc-scene.js';
import { bucket, closeAllDaemons, expectError, staging } from '../support/memory-daemon/index.js';

let scene: GcScene;
afterEach(closeAllDaemons);

const reasonOf = (call: Promise<unknown>) =>
  call.then(
    () => 'OK',
    (error: unknown) => `${(error as { reason: string }).reason}: ${(error as Error).message}`,
  );

describe('jobs abort --force', () => {
  /** Overwrites `a` and `b`; dies when `a` is published. */
  async function stuckJob() {
    scene = await GcScene.start();
    const job = scene.newJob();
    await scene.put(job, 'a', 'before');
    await scene.put(job, 'b', 'before');
    await job.setup();
    await job.runTask(0, { a: 'a', b: 'b', c: 'c' });
    await scene.dieAt(
      () => job.commit(),
      (key, op) => op === 'complete' && key.endsWith('/b'),
    );
    return job;
  }
  const force = (token: string) => scene.operator.app.admin.abort(token, 'by hand', true);
  const uri = (job: { destination: string }, name: string) => `${job.destination}/${name}`;

  it('ends a job whose upload was destroyed, deletes what is its own, and names every key', async () => {
    const job = await stuckJob();
    await scene.destroyUpload('b');
    expect(await reasonOf(scene.operator.app.admin.commit(job.token))).toMatch(/^FOREIGN_OBJECT/);
    expect(await reasonOf(scene.operator.app.admin.abort(job.token, 'by hand'))).toMatch(
      /^OVERWROTE_OBJECTS.*--force/,
    );
    expect(await force(job.token)).toEqual({
      unreadable: [],
      published: false,
      keys: [
        { uri: uri(job, 'a'), fate: 'removed', overwrote: true },
        { uri: uri(job, 'b'), fate: 'foreign', overwrote: true },
        { uri: uri(job, 'c'), fate: 'removed', overwrote: false },
      ],
    });
    expect(job.visible()).toEqual({ b: 'before' });
    expect(job.openUploads()).toEqual([]);
    await scene.operator.idle();
    expect(job.recordsLeft()).toEqual([]);

    expect(job.fact('outcome.json')).toMatchObject({ outcome: 'rolled-back', reason: /by force/ });
    const late = job.through(scene.daemon.client);
    await expectError(late.commit(), 'JOB_ABORTED', /by force/);
    expect(await late.abort()).toEqual({ published: false });
    await expectError(late.setup(), 'JOB_ABORTED');
    expect(await force(job.token)).toEqual({ published: false, keys: [], unreadable: [] });
    scene.later(8 * day);
    expect((await scene.gc()).jobs).toMatchObject([{ state: 'rolled-back', collected: 4 }]);
  });

  it('ends a job one of whose keys another writer replaced, and leaves that object', async () => {
    const job = await stuckJob();
    await scene.put(job, 'a', 'foreign');
    const { keys } = await force(job.token);
    expect(keys[0]).toEqual({ uri: uri(job, 'a'), fate: 'foreign', overwrote: true });
    expect(job.visible()).toEqual({ a: 'foreign', b: 'before' });
  });

  it('refuses a job that can be finished: that loses nothing', async () => {
    const job = await stuckJob();
    expect(await reasonOf(force(job.token))).toMatch(/^OVERWROTE_OBJECTS.*jobs commit/);
    expect(job.fact('outcome.json')).toBeUndefined();
    await scene.operator.app.admin.commit(job.token);
    expect(job.visible()).toEqual({ a: 'a', b: 'b', c: 'c' });
  });

  it('killed half-way, is finished by the next abort', async () => {
    const job = await stuckJob();
    await scene.destroyUpload('b');
    scene.operator.faults.watch(({ op, key }) =>
      op === 'delete' && key.endsWith('/a') ? { fail: 'before' } : undefined,
    );
    expect(await reasonOf(force(job.token))).toMatch(/fault/);
    scene.operator.faults.watch();
    expect(job.fact('outcome.json')).toMatchObject({ outcome: 'rollback' });
    expect(await job.through(scene.daemon.client).abort()).toEqual({ published: false });
    expect(job.visible()).toEqual({ b: 'before' });
  });

  it('is an ordinary abort where that suffices', async () => {
    scene = await GcScene.start();
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { a: 'a' });
    expect(await force(job.token)).toEqual({ published: false, keys: [], unreadable: [] });
    expect(job.fact('decision.json')).toMatchObject({ decision: 'abort' });
    expect(job.openUploads()).toEqual([]);
  });
});

describe('open uploads by prefix', () => {
  it('are listed with their age and the job that names them, in a record or in a ledger', async () => {
    scene = await GcScene.start();
    const job = scene.newJob({ destination: `s3a://${bucket}/u/t1` });
    await job.setup();
    await job.runTask(0, { recorded: 'x' });
    await scene.memory.initiate({ bucket, key: 'u/t1/stranger' }, {});
    await job.attempt(1).open('in ledger');
    await scene.daemon.close();
    const dead = await scene.startDaemon();
    const zombie = job.through(dead.client).attempt(2);
    await zombie.open('unknown');
    dead.kill();
    scene.later(3_600_000);
    const query = { prefix: `s3n://${bucket}/u/t1`, olderThanMs: 0 };
    const { context } = scene.operator.app;
    const shown = (await listOpenUploads(context, query)).map(({ uri, ageMs, token, isOfRunningJob }) => [
      uri.slice(`s3://${bucket}/u/t1/`.length),
      ageMs,
      token,
      isOfRunningJob,
    ]);
    expect(shown).toEqual([
      ['in ledger', 3_600_000, job.token, true],
      ['recorded', 3_600_000, job.token, true],
      ['stranger', 3_600_000, undefined, false],
      ['unknown', 3_600_000, undefined, false],
    ]);
    expect(await listOpenUploads(context, { ...query, olderThanMs: 3_600_001 })).toEqual([]);

    const { aborted, kept } = await abortOpenUploads(context, query, false);
    expect([aborted.length, kept.length]).toEqual([2, 2]);
    expect(job.openUploads()).toEqual(['in ledger', 'recorded']);
  });

  it('of an ended job are aborted with the others', async () => {
    scene = await GcScene.start();
    const job = scene.newJob();
    await job.setup();
    await job.runTask(0, { late: 'x' });
    scene.operator.faults.watch(({ op }) => (op === 'abort' ? { fail: 'before' } : undefined));
    await reasonOf(scene.operator.app.admin.abort(job.token, 'by hand'));
    scene.operator.faults.watch();
    const query = { prefix: job.destination, olderThanMs: 0 };
    expect(await listOpenUploads(scene.operator.app.context, query)).toMatchObject([
      { token: job.token, isOfRunningJob: false },
    ]);
    await abortOpenUploads(scene.operator.app.context, query, false);
    expect(job.openUploads()).toEqual([]);
  });

  it('are not aborted while it is unknown which of them are a job’s', async () => {
    scene = await GcScene.start();
    const job = scene.newJob();
    await job.setup();
    const key = `${staging}/${job.token}/0/tasks/m-000001/0`;
    await scene.memory.put({ bucket, key }, Buffer.from('{'), {});
    await scene.memory.initiate({ bucket, key: 'u/t2/x' }, {});
    const query = { prefix: `s3a://${bucket}/u/t2`, olderThanMs: 0 };
    const { context } = scene.operator.app;
    expect(await listOpenUploads(context, query)).toHaveLength(1);
    expect(await reasonOf(abortOpenUploads(context, query, false))).toMatch(
      /^RECORD_UNREADABLE.*it is not known/,
    );
    expect(scene.memory.uploads(bucket)).toHaveLength(1);
  });

  it('outside every root, or of a store that lists by exact key only, are refused with a sentence', async () => {
    scene = await GcScene.start({ listUploadsByPrefix: false });
    const list = (prefix: string) =>
      reasonOf(listOpenUploads(scene.operator.app.context, { prefix, olderThanMs: 0 }));
    expect(await list('s3a://elsewhere/t')).toMatch(/^OUTSIDE_ROOTS/);
    expect(await list(`s3a://${bucket}/t`)).toMatch(/^UNSUPPORTED.*capabilities.listUploadsByPrefix/);
  });
});

describe('cleanup.listing: exclusive', () => {
  const roots = [
    { uri: `s3a://${bucket}`, listing: 'exclusive' },
    { uri: `s3a://${bucket}/shared` },
  ] as const;

  it('lets AbortJob abort every upload under the destination, and none beside it', async () => {
    scene = await GcScene.start({}, { roots });
    const strangers = ['x/t1/1', 'x/t1/2', 'x/t1/3', 'x/t10/neighbour'];
    for (const key of strangers) await scene.memory.initiate({ bucket, key }, {});
    const job = scene.newJob({ destination: `s3a://${bucket}/x/t1` });
    await job.setup();
    await job.runTask(0, { a: 'a' });
    await job.abort();
    expect(scene.memory.uploads(bucket).map(({ key }) => key)).toEqual(['x/t10/neighbour']);
  });

  it('lets `jobs abort` do the same', async () => {
    scene = await GcScene.start({}, { roots });
    const job = scene.newJob({ destination: `s3a://${bucket}/x/t2` });
    await job.setup();
    await scene.memory.initiate({ bucket, key: 'x/t2/orphan' }, {});
    await scene.operator.app.admin.abort(job.token, 'by hand');
    expect(scene.memory.uploads(bucket)).toEqual([]);
  });

  it('lists nothing for a job that was not set up, that is published, or that aborts earlier attempts only', async () => {
    scene = await GcScene.start({}, { roots });
    const initiate = (key: string) => scene.memory.initiate({ bucket, key }, {});
    await initiate('x/t3/other');
    const unknown = scene.newJob({ destination: `s3a://${bucket}/x/t3` });
    await unknown.abort();
    const published = scene.newJob({ destination: `s3a://${bucket}/x/t3` });
    await published.setup();
    await published.commit();
    await published.abort();
    const first = scene.newJob({ destination: `s3a://${bucket}/x/t3` });
    await first.setup();
    await first.nextAttempt().abort({ scope: 'ABORT_SCOPE_EARLIER_ATTEMPTS' });
    expect(first.fact('decision.json')).toMatchObject({ decision: 'abort' });
    expect(scene.memory.uploads(bucket)).toHaveLength(1);
  });

  it('counts by root, and does not fail an abort where the store cannot list', async () => {
    scene = await GcScene.start({}, { roots });
    await scene.memory.initiate({ bucket, key: 'shared/t/other' }, {});
    const job = scene.newJob({ destination: `s3a://${bucket}/shared/t` });
    await job.setup();
    await job.abort();
    expect(scene.memory.uploads(bucket)).toHaveLength(1);

    await closeAllDaemons();
    scene = await GcScene.start({ listUploadsByPrefix: false }, { roots });
    const plain = scene.newJob();
    await plain.setup();
    expect(await plain.abort()).toEqual({ published: false });
    expect(scene.daemon.logs.map(({ message }) => message).join()).toMatch(/cleanup.listing has no effect/);
  });
});
