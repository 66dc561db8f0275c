import { writeSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countTable, Stack, type StackStore } from '../../scripts/lib/stack.js';
import { DaemonClient, type wire } from '../support/memory-daemon/index.js';
import type { RequestCounts } from '../support/observer/index.js';

const bucket = 'counts';
const stores = ['s3proxy', 'oss'] as const satisfies readonly StackStore[];
const tasks = 4;
const filesATask = 3;
const files = tasks * filesATask;

/** Requests of one job, by where they went. */
type Counts = Record<'data' | 'staging', RequestCounts>;

/**
 * In place of the conditions that OSS lacks: a GET of the outcome before `published` is overwritten by `done`, and one for
 * each 128 deletions; a HEAD for each object that is deleted, the old marker among them.
 */
interface InPlaceOfConditions {
  readonly head: number;
  readonly get: number;
}

// Again, where a machine was so slow that the daemon asked in between whether the job has ended, as it does by the clock.
describe('the same job on S3 (s3proxy) and on OSS (a double)', { timeout: 120_000, retry: 2 }, () => {
  const stacks = new Map<StackStore, { stack: Stack; client: DaemonClient }>();
  beforeAll(async () => {
    for (const store of stores) {
      const stack = await Stack.start(bucket, store);
      stacks.set(store, { stack, client: new DaemonClient(stack.daemon.endpoint) });
    }
  }, 120_000);
  afterAll(async () => {
    for (const { stack, client } of stacks.values()) {
      client.close();
      await stack.stop();
    }
  });

  let runs = 0;

  async function onEach(
    name: string,
    options: wire.JobOptions,
    inline: boolean,
  ): Promise<Record<StackStore, Counts>> {
    const counts: Partial<Record<StackStore, Counts>> = {};
    const destination = `table-${++runs}`;
    for (const [store, { stack, client }] of stacks) {
      const job = { destination: `${stack.uri}/${destination}`, options: {}, inline: false };
      if (name !== 'append') {
        await runJob(client, { ...job, token: `${destination}-before`, keys: 'append' });
        await stack.cleanedUp();
      }
      const since = stack.observer.lastSeq;
      const keys = name === 'overwrite' ? 'append' : name;
      await runJob(client, { ...job, token: destination, keys, options, inline });
      await stack.cleanedUp();
      const { data = {}, staging = {} } = stack.observer.countsByWho(since);
      // Uploads that are open for long are written down, by the clock.
      const ledger = stack.observer.select({ key: /\/opened\// }, since);
      for (const { kind } of ledger) staging[kind] = (staging[kind] ?? 0) - 1;
      counts[store] = { data, staging };
    }
    const { s3proxy, oss } = counts as Record<StackStore, Counts>;
    const table = countTable({
      [`${name}, data, S3`]: s3proxy.data,
      [`${name}, data, OSS`]: oss.data,
      [`${name}, state, S3`]: s3proxy.staging,
      [`${name}, state, OSS`]: oss.staging,
    });
    writeSync(2, `\n${table}\n`);
    return { s3proxy, oss };
  }

  it.each<[name: string, more: InPlaceOfConditions, options: wire.JobOptions, inline: boolean]>([
    ['append', { head: 0, get: 1 }, {}, false],
    ['overwrite', { head: 1, get: 1 }, {}, false],
    ['replace', { head: 1 + files, get: 2 }, { conflictMode: 'CONFLICT_MODE_REPLACE' }, false],
    ['inline', { head: 1, get: 1 }, {}, true],
  ])('%s: as many of each kind, and %o in the constant of the job', async (token, more, options, inline) => {
    const { s3proxy, oss } = await onEach(token, options, inline);
    const { data, staging } = s3proxy;
    expect(oss).toEqual({
      data: { ...data, ...(more.head === 0 ? {} : { head: (data.head ?? 0) + more.head }) },
      staging: { ...staging, get: (staging.get ?? 0) + more.get },
    });
    if (!inline) expect(oss.data).toMatchObject({ initiate: files, part: files, complete: files });
  });
});

async function runJob(
  client: DaemonClient,
  {
    token,
    destination,
    keys,
    options,
    inline,
  }: { token: string; destination: string; keys: string; options: wire.JobOptions; inline: boolean },
): Promise<void> {
  const job: wire.JobRef = { tokens: [token], jobAttempt: 0, destination };
  await client.setupJob({ job, setupId: token, options, protocolVersion: 1 });
  for (let task = 0; task < tasks; task++) {
    const attempt = { task: `m-00000${task}`, attemptNumber: 0, attemptId: `attempt_${token}_${task}_0` };
    const closed: wire.ClosedFile[] = [];
    for (let file = 0; file < filesATask; file++) {
      const uri = `${destination}/${keys}-${task}-${file}`;
      const body = Buffer.from(`${token} ${task} ${file}`);
      closed.push(
        inline ? { inline: { uri, content: body } } : await upload(client, { job, attempt, uri, body }),
      );
    }
    await client.commitTask({ job, attempt, fileCount: closed.length }, closed);
  }
  await client.commitJob({ job });
}

async function upload(
  client: DaemonClient,
  { job, attempt, uri, body }: { job: wire.JobRef; attempt: wire.TaskAttemptRef; uri: string; body: Buffer },
): Promise<wire.ClosedFile> {
  const { file: pending, signedParts } = await client.openFile({ job, attempt, uri, partsToSign: 1 });
  const [signed] = signedParts;
  const headers = { ...signed?.headers };
  const answer = await fetch(signed?.url ?? '', { method: 'PUT', body, headers });
  expect(answer.status).toBe(200);
  const etag = answer.headers.get('etag') ?? '';
  return { pending, parts: [{ partNumber: 1, etag, sizeBytes: body.length }] };
}
