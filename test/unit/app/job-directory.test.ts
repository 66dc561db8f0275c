import { describe, expect, it } from 'vitest';
import { MemoryObjectStore } from '../../../src/adapters/memory/memory-object-store.js';
import { factsOf, JobDirectory } from '../../../src/app/job-directory.js';
import { Roots, type Root } from '../../../src/app/roots.js';
import type { JobToken } from '../../../src/core/ids.js';
import type { ObjectRef } from '../../../src/ports/object-store.js';
import { VirtualClock } from '../adapters/virtual-clock.js';

class CountedReads extends MemoryObjectStore {
  reads = 0;

  override get(object: ObjectRef) {
    this.reads++;
    return super.get(object);
  }
}

/** Jobs `job-0` to `job-9`, each with that many bytes of paths in its job.json. */
async function tenJobs(limits: { jobs: number; bytes: number }, pathBytes = 10, clock = new VirtualClock()) {
  const store = new CountedReads({ buckets: ['b'] });
  const root: Root = {
    uri: { scheme: 's3', bucket: 'b', key: '' },
    storeName: 'memory',
    store,
    staging: { bucket: 'b', key: 'st' },
    principals: [],
  };
  for (let i = 0; i < 10; i++) {
    const token = `job-${i}` as JobToken;
    await factsOf(root, token, 0).createJob({
      ...{ token, jobAttempt: 0, destination: 's3://b/t', setupId: 's', fingerprint: 'f', principal: 'p' },
      ...{ hmacKey: '', description: '', createdAt: '' },
      options: {
        ...{
          conflictMode: 'append',
          conflictScope: 'paths',
          successMarker: true,
          allowOtherLocations: false,
        },
        conflictPaths: ['x'.repeat(pathBytes)],
      },
    });
  }
  const jobs = new JobDirectory(new Roots([root]), clock, limits);
  return async (...numbers: readonly number[]): Promise<number> => {
    store.reads = 0;
    for (const i of numbers)
      await jobs.find({ tokens: [`job-${i}`], jobAttempt: 0, destination: 's3a://b/t' }, 'p');
    return store.reads;
  };
}

const all = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

describe('what a daemon keeps of jobs', () => {
  it('is read once', async () => {
    const readsOf = await tenJobs({ jobs: 10, bytes: 1_000_000 });
    expect([await readsOf(...all), await readsOf(...all)]).toEqual([10, 0]);
  });

  it('is read again after ten minutes: its token may be another job’s by then', async () => {
    const clock = new VirtualClock();
    const readsOf = await tenJobs({ jobs: 10, bytes: 1_000_000 }, 10, clock);
    await readsOf(0);
    await clock.advance(599_999);
    expect(await readsOf(0)).toBe(0);
    await clock.advance(1);
    expect([await readsOf(0), await readsOf(0)]).toEqual([1, 0]);
  });

  it('has a limit by number: the oldest go', async () => {
    const readsOf = await tenJobs({ jobs: 3, bytes: 1_000_000 });
    await readsOf(...all);
    expect([await readsOf(7, 8, 9), await readsOf(0)]).toEqual([0, 1]);
  });

  it('has a limit by bytes, whatever one job takes', async () => {
    const readsOf = await tenJobs({ jobs: 1_000, bytes: 500_000 }, 100_000);
    await readsOf(...all);
    expect([await readsOf(6, 7, 8, 9), await readsOf(5, 4, 3)]).toEqual([0, 3]);
    const large = await tenJobs({ jobs: 1_000, bytes: 500 }, 100_000);
    expect([await large(0), await large(0), await large(1), await large(0)]).toEqual([1, 0, 1, 1]);
  });
});
