import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OssObjectStore } from '../../src/adapters/oss/oss-object-store.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import {
  closeAllDaemons,
  expectError,
  startMemoryDaemon,
  type MemoryDaemon,
} from '../support/memory-daemon/index.js';
import { TestJob } from '../support/memory-daemon/index.js';
import type { MemoryObjectStore } from '../../src/adapters/memory/memory-object-store.js';
import { cleanUp, realBucket, type RealBucket } from './bucket.js';

/** One part of the least size. */
const content = 'x'.repeat(100 * 1024);

describe('jobs on OSS', { timeout: 300_000 }, () => {
  let real: RealBucket;
  let store: OssObjectStore;
  let daemon: MemoryDaemon;
  let count = 0;
  beforeAll(() => {
    real = realBucket();
    store = new OssObjectStore(real.options, new SystemClock());
  });
  afterEach(closeAllDaemons);
  afterAll(async () => {
    await cleanUp(real);
    await store.close();
  });

  async function begin(): Promise<TestJob> {
    // It asks of the store in memory what a store can do, and to send signed parts.
    const memory = Object.assign(Object.create(store) as MemoryObjectStore, {
      close: () => Promise.resolve(),
      putSigned: async (url: string, body: Uint8Array) => {
        const headers = { 'content-type': 'application/octet-stream' };
        const answer = await fetch(url, { method: 'PUT', headers, body: Buffer.from(body) });
        await answer.arrayBuffer();
        expect(answer.status).toBe(200);
        return { partNumber: 1, etag: answer.headers.get('etag') ?? '', sizeBytes: body.byteLength };
      },
    });
    const uri = `oss://${real.bucket}/${real.prefix}job-${++count}`;
    daemon = await startMemoryDaemon({
      memory,
      roots: [{ uri, staging: `${real.prefix}staging` }],
      retry: true,
    });
    const job = new TestJob(daemon.client, memory, { destination: `${uri}/table` });
    await job.setup();
    return job;
  }

  async function visible(job: TestJob): Promise<string[]> {
    const prefix = `${job.destination.replace(`oss://${real.bucket}/`, '')}/`;
    const { objects } = await store.list(real.bucket, prefix, {});
    return objects.map(({ key }) => key.slice(prefix.length)).filter((name) => name !== '_SUCCESS');
  }

  it('nothing is visible before the commit, everything after it, and replays change nothing', async () => {
    const job = await begin();
    const attempt = await job.runTask(0, { a: content, b: content });
    await job.runTask(1, { c: '' });
    await attempt.commit();
    expect(await visible(job)).toEqual([]);
    const committed = await job.commit();
    expect(await visible(job)).toEqual(['a', 'b', 'c']);
    expect(await job.commit()).toEqual(committed);
    await daemon.idle();
    expect((await store.listUploads(real.bucket, real.prefix, {})).uploads).toEqual([]);
  });

  it('an aborted job leaves nothing, and its late calls are refused', async () => {
    const job = await begin();
    const attempt = await job.runTask(0, { a: content });
    await job.abort();
    expect(await visible(job)).toEqual([]);
    await expectError(attempt.commit(), 'JOB_ABORTED');
    await expectError(job.commit(), 'JOB_ABORTED');
    expect((await store.listUploads(real.bucket, real.prefix, {})).uploads).toEqual([]);
  });

  it('one attempt of a task is published', async () => {
    const job = await begin();
    await job.runTask(0, { 'part-0': content }, 0);
    await job.runTask(0, { 'part-0-again': content }, 1);
    await job.commit();
    expect(await visible(job)).toEqual(['part-0-again']);
  });

  it('commit and abort at once: all or nothing', async () => {
    const job = await begin();
    await job.runTask(0, { a: content, b: content, c: content });
    await Promise.allSettled([job.commit(), job.abort()]);
    await daemon.idle();
    expect([[], ['a', 'b', 'c']]).toContainEqual(await visible(job));
  });
});
