import { expect, it } from 'vitest';
import { MemoryObjectStore } from '../../../src/adapters/memory/memory-object-store.js';
import { stagedJobs } from '../../../src/app/gc-staged-jobs.js';
import type { Root } from '../../../src/app/roots.js';
import type { ListPageOptions } from '../../../src/ports/object-store.js';

class SmallPages extends MemoryObjectStore {
  pages = 0;

  override list(bucket: string, prefix: string, page: ListPageOptions) {
    this.pages++;
    return super.list(bucket, prefix, { ...page, maxKeys: 2 });
  }
}

it('groups one listing of the staging root by token, whatever the names sort like', async () => {
  let nowMs = 0;
  const store = new SmallPages({ buckets: ['b'], clock: { nowMs: () => nowMs } });
  const root: Root = {
    uri: { scheme: 's3', bucket: 'b', key: '' },
    storeName: 'memory',
    store,
    staging: { bucket: 'b', key: 'st' },
    principals: [],
  };
  const keys = [
    'st/a/0/job.json',
    'st/a/10/job.json',
    'st/a/2/tasks/m-000001/0',
    // The youngest of its job comes first in the listing.
    'st/a/0/decision.json',
    'st/a-b/0/job.json',
    'st/a.b/0/opened/x-1',
    'st/a0/0/job.json',
    // No jobs: a probe, a token without a job attempt, a name that no token has, a neighbour of the staging root.
    'st/.commitbridge-gc-1',
    'st/c/job.json',
    'st/d/x/job.json',
    'st/-e/0/job.json',
    'st2/f/0/job.json',
  ];
  for (const key of keys) {
    nowMs += 1_000;
    await store.put({ bucket: 'b', key }, Buffer.from('{}'), {});
  }
  const probes: string[] = [];
  const jobs = [];
  for await (const job of stagedJobs(root, ({ key }) => probes.push(key))) jobs.push(job);
  expect(jobs).toEqual([
    { token: 'a-b', jobAttempts: [0], newestMs: 5_000, hasRecords: false },
    { token: 'a.b', jobAttempts: [0], newestMs: 6_000, hasRecords: true },
    { token: 'a', jobAttempts: [0, 2, 10], newestMs: 4_000, hasRecords: true },
    { token: 'a0', jobAttempts: [0], newestMs: 7_000, hasRecords: false },
  ]);
  expect(probes).toEqual(['st/.commitbridge-gc-1']);
  expect(store.pages).toBe(6);
});
