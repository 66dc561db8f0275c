import { afterEach, expect, it } from 'vitest';
import {
  closeAllDaemons,
  expectError,
  startMemoryDaemon,
  TestJob,
  type MemoryDaemon,
  type TestAttempt,
} from '../support/memory-daemon/index.js';

afterEach(closeAllDaemons);

async function setUp(
  options: Parameters<typeof startMemoryDaemon>[0] = {},
): Promise<[MemoryDaemon, TestJob]> {
  const daemon = await startMemoryDaemon(options);
  const job = new TestJob(daemon.client, daemon.memory);
  await job.setup();
  return [daemon, job];
}

/** Names and contents of files that travel with CommitTask. */
async function commitInline(attempt: TestAttempt, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const uri = `${attempt.job.destination}/${name}`;
    attempt.files.push({ inline: { uri, content: Buffer.from(content), contentType: '' } });
  }
  await attempt.commit();
}

it('a task learns from SetupTask what it may send inline', async () => {
  const [, job] = await setUp();
  expect(await job.attempt(0).setup()).toMatchObject({
    maxInlineBytes: '16384',
    maxInlineBytesPerAttempt: '1048576',
  });
});

it('a store that cannot presign, and so not fence, takes none', async () => {
  const [, job] = await setUp({ capabilities: { presign: false } });
  expect(await job.attempt(0).setup()).toMatchObject({ maxInlineBytes: '0' });
  await expectError(commitInline(job.attempt(0), { a: 'a' }), 'LIMIT_EXCEEDED', /inline/);
});

it('files of many tasks are published behind one look at the outcome for each 128 of them', async () => {
  const [daemon, job] = await setUp();
  const expected: Record<string, string> = {};
  for (let task = 0; task < 65; task++) {
    const files = { [`${task}-a`]: `a${task}`, [`${task}-b`]: '' };
    Object.assign(expected, files);
    await commitInline(job.attempt(task), files);
  }
  expect(job.openUploads()).toEqual([]);
  let looks = 0;
  daemon.faults.watch(({ op, key }) => {
    if (op === 'get' && key.endsWith('/outcome.json')) looks++;
    return undefined;
  });
  await job.commit();
  const looksForSmallJob = await looksOfOneFile();
  expect(looks - looksForSmallJob).toBe(1);
  expect(job.visible()).toEqual(expected);
});

/** Looks at the outcome of a job with one file, one of them for that. */
async function looksOfOneFile(): Promise<number> {
  const [daemon, job] = await setUp();
  await commitInline(job.attempt(0), { a: 'a' });
  let looks = 0;
  daemon.faults.watch(({ op, key }) => {
    if (op === 'get' && key.endsWith('/outcome.json')) looks++;
    return undefined;
  });
  await job.commit();
  return looks;
}

it('what does not fit in memory is read again from the records', async () => {
  const [, job] = await setUp();
  const full = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [i, 'x'.repeat(16 * 1024)]));
  const named = (task: number): Record<string, string> =>
    Object.fromEntries(Object.entries(full).map(([name, content]) => [`${task}-${name}`, content]));
  const tasks = 66; // of 1 MiB each; 64 MiB are held
  for (let task = 0; task < tasks; task++) await commitInline(job.attempt(task), named(task));
  await job.commit();
  const visible = job.visible();
  expect(Object.keys(visible)).toHaveLength(tasks * 64);
  expect(new Set(Object.values(visible))).toEqual(new Set(['x'.repeat(16 * 1024)]));
});

/** A skewed clock makes a signature old at once: how long ago it was made says nothing. */
it.each([
  ['access-denied', 2],
  ['expired-credentials', 2],
] as const)('a put refused with %s is signed again, and looked at, %i times at most', async (kind, more) => {
  const [daemon, job] = await setUp();
  await commitInline(job.attempt(0), { a: 'a', b: 'b' });
  let refusals = more;
  const calls: string[] = [];
  daemon.faults.watch(({ op, key }) => {
    if (op === 'get' && key.endsWith('/outcome.json')) calls.push('look');
    if (op !== 'sendPut' || !key.endsWith('/a')) return undefined;
    calls.push('put');
    return refusals-- > 0 ? { fail: 'before', kind } : undefined;
  });
  await job.commit();
  expect(job.visible()).toEqual({ a: 'a', b: 'b' });
  expect(calls.filter((call) => call === 'put')).toHaveLength(more + 1);
  expect(calls.join(' ')).toContain('look put look put look put');

  const denied = new TestJob(daemon.client, daemon.memory);
  await denied.setup();
  await commitInline(denied.attempt(0), { a: 'a' });
  let puts = 0;
  daemon.faults.watch(({ op, key }) => {
    if (op !== 'sendPut' || !key.endsWith('/a')) return undefined;
    puts++;
    return { fail: 'before', kind };
  });
  await expect(denied.commit()).rejects.toThrow();
  expect(puts).toBe(more + 1);
});
