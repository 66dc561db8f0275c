import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryObjectStore } from '../../src/adapters/memory/memory-object-store.js';
import {
  bucket,
  closeAllDaemons,
  expectError,
  smallParts,
  staging,
  startMemoryDaemon,
  TestJob,
  type MemoryDaemon,
} from '../support/memory-daemon/index.js';

let daemon: MemoryDaemon;
let job: TestJob;
beforeEach(async () => {
  daemon = await startMemoryDaemon({ completeConcurrency: 1 });
  job = new TestJob(daemon.client, daemon.memory);
  await job.setup();
});
afterEach(closeAllDaemons);

const keyOf = (name: string): string => `${job.destination.replace(`s3a://${bucket}/`, '')}/${name}`;

function putForeign(name: string, content = 'foreign', metadata = {}): Promise<unknown> {
  return daemon.memory.put({ bucket, key: keyOf(name) }, Buffer.from(content), { metadata });
}

async function expectEnd(visible: Record<string, string>): Promise<void> {
  await daemon.idle();
  expect(job.visible()).toEqual(visible);
  expect(job.openUploads()).toEqual([]);
  expect(job.recordsLeft()).toEqual([]);
}

/** Something that happens right before the first Complete. */
function beforePublication(act: () => Promise<unknown>): void {
  let done: Promise<unknown> | undefined;
  daemon.faults.watch(({ op }) =>
    op === 'complete' ? { hold: 'before', until: (done ??= act()) } : undefined,
  );
}

async function stopAfterComplete(nth: number): Promise<void> {
  let completes = 0;
  daemon.faults.watch(({ op }) => (op === 'complete' && ++completes > nth ? { fail: 'before' } : undefined));
  await expectError(job.commit(), 'STORE_UNAVAILABLE');
  daemon.faults.watch();
}

describe('two tasks that write one key', () => {
  it('fail the commit: nothing is visible and the job is aborted', async () => {
    await job.runTask(0, { same: '0' });
    await job.runTask(1, { same: '1' });
    await expectError(job.commit(), 'DUPLICATE_KEY', /same/);
    await expectError(job.commit(), 'JOB_ABORTED', /same/);
    await job.abort();
    await expectEnd({});
  });
});

describe('exact winners', () => {
  it('are published, though a higher attempt committed too', async () => {
    const chosen = await job.runTask(0, { a: 'chosen' }, 0);
    await job.runTask(0, { a: 'zombie' }, 1);
    const other = await job.runTask(1, { b: 'b' });
    await job.runTask(2, { c: 'not named' });
    expect(await job.commit([chosen, other])).toEqual({ files: '2', bytes: '7', tasks: '2' });
    await expectEnd({ a: 'chosen', b: 'b' });
  });

  it('may be none', async () => {
    await job.runTask(0, { a: 'a' });
    expect(await job.commit([])).toMatchObject({ files: '0' });
    await expectEnd({});
  });

  it('that did not commit fail the call, and nothing is decided', async () => {
    const good = await job.runTask(0, { a: 'a' });
    const aborted = await job.runTask(1, { b: 'b' });
    await aborted.abort();
    await expectError(job.commit([good, job.attempt(9)]), 'WINNER_NOT_COMMITTED', /no record/);
    await expectError(job.commit([good, aborted]), 'WINNER_NOT_COMMITTED', /aborted/);
    await expectError(job.commit([job.attempt(0, 0, 'other-id')]), 'WINNER_NOT_COMMITTED', /record is of/);
    expect(job.fact('decision.json')).toBeUndefined();
    await job.commit([good]);
    await expectEnd({ a: 'a' });
  });

  it('of one task are one: two would publish its output twice', async () => {
    const one = await job.runTask(0, { a: 'a' }, 0);
    const two = await job.runTask(0, { b: 'b' }, 1);
    await expectError(job.commit([one, two]), 'INVALID_FIELD', /two attempts of task m-000000/);
    await expectError(job.commit([one, one]), 'INVALID_FIELD');
    expect(job.fact('decision.json')).toBeUndefined();
    await job.commit([two]);
    await expectEnd({ b: 'b' });
  });
});

describe('an object of another writer', () => {
  /** Where conditional Completes are dear, only this mode asks for them. */
  const noticing = async (): Promise<void> => {
    if (!daemon.memory.capabilities.dearConditionalComplete) return;
    job = new TestJob(daemon.client, daemon.memory);
    await job.setup({ conflictMode: 'CONFLICT_MODE_FAIL' });
  };

  it('made at a key of the job during publication: theirs stays, ours goes (HADOOP-19256)', async () => {
    await noticing();
    await job.runTask(0, { a: 'a', b: 'b', c: 'c' });
    beforePublication(() => putForeign('b'));
    await expectError(job.commit(), 'DESTINATION_EXISTS', /\/b /);
    daemon.faults.watch();
    await expectError(job.commit(), 'JOB_ABORTED', /\/b /);
    expect(job.marker()).toBeUndefined();
    await expectEnd({ b: 'foreign' });
  });

  it('is not taken for ours though its bytes are the same', async () => {
    await noticing();
    await job.runTask(0, { a: 'a' });
    beforePublication(() => putForeign('a', 'a'));
    await expectError(job.commit(), 'DESTINATION_EXISTS');
    await expectEnd({ a: 'a' });
  });

  it('put over a file of ours before the rollback reaches it stays', async () => {
    await job.runTask(0, { a: 'a', b: 'b' });
    await stopAfterComplete(1);
    await putForeign('a');
    expect(await job.abort()).toEqual({ published: false });
    await expectEnd({ a: 'foreign' });
  });

  it('put between the rollback’s HEAD and its DELETE stays, where the store deletes by ETag', async () => {
    await job.runTask(0, { a: 'a', b: 'b' });
    await stopAfterComplete(1);
    daemon.faults.watch(({ op, key }) =>
      op === 'delete' && key === keyOf('a') ? { hold: 'before', until: putForeign('a') } : undefined,
    );
    await job.abort();
    await expectEnd(daemon.memory.capabilities.conditionalDelete ? { a: 'foreign' } : {});
  });
});

describe('a job that overwrites', () => {
  it('replaces old objects at its keys and leaves the others', async () => {
    await putForeign('a', 'old');
    await putForeign('z', 'kept');
    await job.runTask(0, { a: 'new', b: 'b' });
    await job.commit();
    await expectEnd({ a: 'new', b: 'b', z: 'kept' });
  });

  it('leaves the old data in full where it is aborted before the commit (HADOOP-18842)', async () => {
    await putForeign('a', 'old');
    await job.runTask(0, { a: 'new' });
    await job.abort();
    await expectEnd({ a: 'old' });
  });

  it('completes keys that overwrite nothing first, and cannot be rolled back but finished', async () => {
    await putForeign('a', 'old');
    await job.runTask(0, { a: 'new', b: 'b' });
    await stopAfterComplete(1);
    expect(job.visible()).toEqual({ a: 'old', b: 'b' });
    await expectError(job.abort(), 'OVERWROTE_OBJECTS', /commitbridge jobs commit/);
    expect(job.visible()).toEqual({ a: 'old', b: 'b' });
    await job.commit();
    expect(await job.abort()).toEqual({ published: true });
    await expectEnd({ a: 'new', b: 'b' });
  });

  it('whose Complete fails for good never loses the key: old or new, not missing', async () => {
    await putForeign('c', 'old');
    await job.runTask(0, { a: 'a', b: 'b', c: 'new' });
    daemon.faults.watch(({ op, key }) =>
      op === 'complete' && key === keyOf('c') ? { fail: 'before', kind: 'access-denied' } : undefined,
    );
    await expectError(job.commit(), 'STORE_ACCESS_DENIED');
    expect(job.visible()).toEqual({ a: 'a', b: 'b', c: 'old' });
    daemon.faults.watch();
    await job.commit();
    await expectEnd({ a: 'a', b: 'b', c: 'new' });
  });
});

describe('an upload that was destroyed from outside', () => {
  it('is named in DATA_LOSS, and the job can be rolled back', async () => {
    await job.runTask(0, { a: 'a', b: 'b' });
    const upload = daemon.memory.uploads(bucket).find(({ key }) => key === keyOf('b'))!;
    await daemon.memory.abort(upload);
    const error = await expectError(job.commit(), 'FOREIGN_OBJECT', /\/b is gone/);
    expect(error.code).toBe('DATA_LOSS');
    expect(await job.abort()).toEqual({ published: false });
    await expectEnd({});
  });

  it('and replaced by another writer under a job that overwrites is named too, theirs is untouched', async () => {
    await putForeign('a', 'old');
    await job.runTask(0, { a: 'new' });
    await daemon.memory.abort(daemon.memory.uploads(bucket)[0]!);
    await expectError(job.commit(), 'FOREIGN_OBJECT', /another writer/);
    expect(job.visible()).toEqual({ a: 'old' });
  });
});

describe('a Complete whose reply was lost', () => {
  it.each([true, false])(
    'is settled by a look at the object (idempotent Complete: %s)',
    async (idempotentComplete) => {
      const other = await startMemoryDaemon({ capabilities: { idempotentComplete }, retry: true });
      const lossy = new TestJob(other.client, other.memory);
      await lossy.setup();
      await lossy.runTask(0, { a: 'a', b: 'b' });
      const seen = new Set<string>();
      other.faults.watch(({ op, key }) => {
        if (op !== 'complete' || seen.has(key)) return undefined;
        seen.add(key);
        return { fail: 'after' };
      });
      await lossy.commit();
      expect(seen.size).toBe(2);
      expect(lossy.visible()).toEqual({ a: 'a', b: 'b' });
    },
  );

  it.each([
    'no-such-upload',
    'not-found',
    'invalid-parts',
    'invalid',
    'conflict',
    'precondition-failed',
  ] as const)('though the store then says %s', async (kind) => {
    await job.runTask(0, { a: 'a', b: 'b' });
    daemon.faults.watch(({ op }) => (op === 'complete' ? { fail: 'after', kind } : undefined));
    await job.commit();
    await expectEnd({ a: 'a', b: 'b' });
  });

  it('with a 409 that passes is sent again', async () => {
    await job.runTask(0, { a: 'a' });
    let conflicts = 0;
    daemon.faults.watch(({ op }) =>
      op === 'complete' && ++conflicts <= 2 ? { fail: 'before', kind: 'conflict' } : undefined,
    );
    await job.commit();
    expect(conflicts).toBe(3);
    await expectEnd({ a: 'a' });
  });
});

describe('the success marker', () => {
  it('of a daemon that stood still does not land when the job is long done', async () => {
    let lateMs = 0;
    const clock = { nowMs: () => Date.now() + lateMs };
    const memory = new MemoryObjectStore({ buckets: [bucket], capabilities: smallParts, clock });
    const asleep = await startMemoryDaemon({ memory });
    const other = await startMemoryDaemon({ memory });
    job = new TestJob(asleep.client, memory);
    await job.setup();
    await job.runTask(0, { a: 'a' });
    let wake: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (wake = resolve));
    asleep.faults.watch(({ op, key }) => {
      return op === 'sendPut' && key.endsWith('/_SUCCESS') ? { hold: 'before', until } : undefined;
    });
    const committing = job.commit().catch(() => undefined);
    await asleep.faults.reached(({ op, key }) => op === 'sendPut' && key.endsWith('/_SUCCESS'));
    await job.through(other.client).commit();
    expect(job.marker()).toContain(job.token);
    await memory.delete({ bucket, key: keyOf('_SUCCESS') }, {});
    lateMs = 31_000;
    wake();
    await committing;
    expect(job.marker()).toBeUndefined();
    await job.commit();
    expect([job.marker(), job.visible()]).toEqual([undefined, { a: 'a' }]);
  });

  it.each([true, false])('of the last committer stays (presign: %s)', async (presign) => {
    const { client, memory } = await startMemoryDaemon({ capabilities: { presign } });
    const destination = job.destination;
    for (const name of ['one', 'two']) {
      const append = new TestJob(client, memory, { destination, token: name });
      await append.setup();
      await append.attempt(0).commit();
      // The second one's setupJob has removed the first one's marker; another append puts its own meanwhile.
      if (name === 'two') await memory.put({ bucket, key: keyOf('_SUCCESS') }, Buffer.from('three'), {});
      await append.commit();
      expect(append.marker()).toContain(name);
    }
  });
});

describe('a damaged record', () => {
  const damage = (name: string, body: string) =>
    daemon.memory.put({ bucket, key: `${staging}/${job.token}/0/${name}` }, Buffer.from(body), {});

  it.each([
    ['is no JSON', 'nonsense'],
    ['has no format', '{}'],
    ['is of another version', '{"format":"commitbridge/pendingset/2"}'],
    ['is empty', ''],
  ])('of a task that %s stops the commit before any decision', async (_, body) => {
    await job.runTask(0, { a: 'a' });
    await damage('tasks/m-000001/0', body);
    const error = await expectError(job.commit(), 'RECORD_UNREADABLE', /m-000001/);
    expect(error.code).toBe('DATA_LOSS');
    expect(job.fact('decision.json')).toBeUndefined();
    expect(job.visible()).toEqual({});
  });

  it('of another attempt than its name says, or another job, is refused', async () => {
    await job.runTask(0, { a: 'a' });
    const stored = await daemon.memory.get({ bucket, key: `${staging}/${job.token}/0/tasks/m-000000/0` });
    await damage('tasks/m-000000/1', Buffer.from(stored?.body ?? '').toString());
    await expectError(job.commit(), 'RECORD_UNREADABLE', /number 0/);
  });

  it('under a name that is no attempt’s is refused', async () => {
    await damage('tasks/m-000000/x', '{}');
    await expectError(job.commit(), 'RECORD_UNREADABLE', /its name/);
  });

  it('that changed since the decision is refused', async () => {
    await job.runTask(0, { a: 'a', b: 'b' });
    await stopAfterComplete(1);
    const key = `${staging}/${job.token}/0/tasks/m-000000/0`;
    const stored = await daemon.memory.get({ bucket, key });
    await daemon.memory.put(
      { bucket, key },
      Buffer.from(
        Buffer.from(stored?.body ?? '')
          .toString()
          .replace('"length":1', '"length":2'),
      ),
      {},
    );
    await expectError(job.commit(), 'RECORD_UNREADABLE', /plan lists/);
  });

  it.each(['decision.json', 'outcome.json'])('%s stops every call that needs it', async (name) => {
    await job.runTask(0, { a: 'a' });
    await job.commit();
    await damage(name, '{"format":"other"}');
    await expectError(job.commit(), 'RECORD_UNREADABLE', new RegExp(name));
    await expectError(job.abort(), 'RECORD_UNREADABLE', new RegExp(name));
  });

  it('of a plan that was cut or removed is refused while the publication is not over', async () => {
    await job.runTask(0, { a: 'a', b: 'b' });
    await stopAfterComplete(1);
    const plan = job
      .staged()
      .find((name) => name.startsWith('0/plan-'))!
      .slice(2);
    await damage(plan, '{"format":"commitbridge/plan/1"}\n');
    await expectError(job.commit(), 'RECORD_UNREADABLE', /hash/);
    await daemon.memory.delete({ bucket, key: `${staging}/${job.token}/0/${plan}` }, {});
    await expectError(job.commit(), 'RECORD_UNREADABLE', /gone/);
    await expectError(job.abort(), 'RECORD_UNREADABLE', /gone/);
  });
});
