import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  closeAllDaemons,
  expectError,
  startMemoryDaemon,
  TestJob,
  type MemoryDaemon,
} from '../support/memory-daemon/index.js';

const options = { taskRecords: 'TASK_RECORDS_STORE' } as const;

let daemon: MemoryDaemon;
let job: TestJob;
beforeEach(async () => {
  daemon = await startMemoryDaemon();
  job = new TestJob(daemon.client, daemon.memory);
  await job.setup(options);
});
afterEach(closeAllDaemons);

async function expectEnd(visible: Record<string, string>): Promise<void> {
  await daemon.idle();
  expect(job.visible()).toEqual(visible);
  expect(job.openUploads()).toEqual([]);
  expect(job.recordsLeft()).toEqual([]);
}

describe('files that were closed one by one', () => {
  it('are committed by a process that names none of them, beside one that it names', async () => {
    const attempt = job.attempt(0);
    await attempt.closeFile(await attempt.write('a', 'a'));
    await attempt.closeFile(await attempt.write('b', 'bb'));
    const committer = job.attempt(0, 0, attempt.id);
    await committer.write('c', 'ccc');
    expect(await committer.commit()).toMatchObject({ files: '3', bytes: '6' });
    expect(await committer.commit()).toMatchObject({ files: '3', bytes: '6' });
    await job.commit();
    await expectEnd({ a: 'a', b: 'bb', c: 'ccc' });
  });

  it('may be handed over too: they count once', async () => {
    const attempt = job.attempt(0);
    await attempt.closeFile(await attempt.write('a', 'a'));
    expect(await attempt.commit()).toMatchObject({ files: '1', bytes: '1' });
    await job.commit();
    await expectEnd({ a: 'a' });
  });

  it('are those of the attempt id only', async () => {
    const dead = job.attempt(0, 0, 'attempt_of_a_dead_process');
    await dead.closeFile(await dead.write('dead', 'd'));
    await job.attempt(0, 0, 'attempt_that_commits').commit();
    await job.commit();
    await expectEnd({});
  });

  it('close again as before, and not with other parts', async () => {
    const attempt = job.attempt(0);
    const file = await attempt.write('a', 'a');
    await attempt.closeFile(file);
    await attempt.closeFile(file);
    const other = { ...file, parts: [{ ...file.parts![0]!, etag: '"other"' }] };
    await expectError(attempt.closeFile(other), 'ATTEMPT_EXISTS', /other parts/);
    await job.attempt(0, 0, attempt.id).commit();
    await attempt.closeFile(file);
    await job.commit();
    await expectEnd({ a: 'a' });
  });

  it('are refused when the attempt was committed without them, and their uploads go', async () => {
    const attempt = job.attempt(0);
    const file = await attempt.write('late', 'l');
    await job.attempt(0, 0, attempt.id).commit();
    await expectError(attempt.closeFile(file), 'ATTEMPT_EXISTS', /without/);
    expect(job.openUploads()).toEqual([]);
    await job.commit();
    await expectEnd({});
  });

  it('go with their attempt, also where another process aborts it', async () => {
    const attempt = job.attempt(0);
    const early = await attempt.write('early', 'e');
    const late = await attempt.write('late', 'l');
    await attempt.closeFile(early);
    await job.attempt(0, 0, attempt.id).abort([]);
    expect(job.openUploads()).toEqual(['late']);
    await expectError(attempt.closeFile(late), 'ATTEMPT_ABORTED');
    await expectError(attempt.closeFile(early), 'ATTEMPT_ABORTED');
    expect(job.openUploads()).toEqual([]);
    await job.runTask(0, { kept: 'k' }, 1);
    await job.commit();
    await expectEnd({ kept: 'k' });
  });

  it('are given up one by one', async () => {
    const attempt = job.attempt(0);
    const dropped = await attempt.write('dropped', 'd');
    await attempt.closeFile(dropped);
    await attempt.closeFile(await attempt.write('kept', 'k'));
    await attempt.abortFile(dropped.pending!);
    await job.attempt(0, 0, attempt.id).commit();
    await job.commit();
    await expectEnd({ kept: 'k' });
  });

  it.each(['commit', 'abort'] as const)(
    'are refused after the %s of the job, and nothing is left',
    async (end) => {
      const attempt = job.attempt(0);
      const file = await attempt.write('late', 'l');
      await job[end]();
      await expectError(attempt.closeFile(file), end === 'commit' ? 'JOB_COMMITTED' : 'JOB_ABORTED');
      await expectEnd({});
    },
  );

  it('of a master that was replaced are refused', async () => {
    const attempt = job.attempt(0);
    const file = await attempt.write('late', 'l');
    const next = job.nextAttempt();
    await next.setup(options);
    await expectError(attempt.closeFile(file), 'JOB_SUPERSEDED');
    await next.commit();
    await expectEnd({});
  });

  it('need a job that was set up for them', async () => {
    const other = new TestJob(daemon.client, daemon.memory);
    await other.setup();
    const attempt = other.attempt(0);
    const file = await attempt.write('a', 'a');
    await expectError(attempt.closeFile(file), 'UNSUPPORTED', /TASK_RECORDS_STORE/);
    await attempt.commit();
  });

  it('are uploads with whole parts and an honest handle', async () => {
    const attempt = job.attempt(0);
    const file = await attempt.write('a', 'a');
    await expectError(attempt.closeFile({ ...file, parts: [] }), 'INVALID_PARTS');
    await expectError(
      attempt.closeFile({ ...file, pending: { ...file.pending!, handle: Buffer.alloc(32) } }),
      'FORGED_HANDLE',
    );
    const inline = { uri: `${job.destination}/i`, content: Buffer.from('i'), contentType: '' };
    await expectError(attempt.closeFile({ inline }), 'INVALID_FIELD', /CommitTask/);
    expect(job.recordsLeft()).toEqual([]);
  });
});

it('a CloseFile that is slow between its looks never aborts what a commit lists meanwhile', async () => {
  const { opened, open } = gate();
  const publication = gate();
  daemon = await startMemoryDaemon();
  job = new TestJob(daemon.client, daemon.memory);
  await job.setup(options);
  const attempt = job.attempt(0);
  const file = await attempt.write('a', 'a');
  await attempt.closeFile(file);

  const slow = await startMemoryDaemon({ memory: daemon.memory });
  await slow.client.setupTask({ job: job.ref, attempt: attempt.ref });
  let gets = 0;
  slow.faults.watch(({ op }) =>
    op === 'get' && ++gets === 3 ? { hold: 'before', until: opened } : undefined,
  );
  const replay = slow.client.closeFile({ job: job.ref, attempt: attempt.ref, file });
  await slow.faults.reached(() => gets === 3);

  daemon.faults.watch(({ op }) =>
    op === 'complete' ? { hold: 'before', until: publication.opened } : undefined,
  );
  await job.attempt(0, 0, attempt.id).commit();
  const commit = job.commit();
  await daemon.faults.reached(({ op }) => op === 'complete');
  open();
  await replay;
  publication.open();
  expect(await commit).toMatchObject({ files: '1' });
  await slow.idle();
  await expectEnd({ a: 'a' });
});

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
