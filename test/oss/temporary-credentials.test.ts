import { afterEach, describe, expect, it } from 'vitest';
import { decorate } from '../../src/adapters/decorators/decorate.js';
import { OssObjectStore } from '../../src/adapters/oss/oss-object-store.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import { SystemRandom } from '../../src/adapters/system/random.js';
import { mapLimit } from '../../src/app/map-limit.js';
import type { ObjectStore } from '../../src/ports/object-store.js';
import { OssDouble } from '../support/oss-double/index.js';

const bucket = 'sts';
const inFlight = 64;
const files = 640;

let double: OssDouble;
let store: ObjectStore | undefined;
afterEach(async () => {
  await store?.close();
  await double.stop();
});

/** A store whose role gives keys that live so long at first; tells how often it was asked. */
async function start(
  lifetimeMs: number,
): Promise<{ store: ObjectStore; issued: string[]; retries: string[] }> {
  double = await OssDouble.start({ buckets: [bucket], latencyMs: 20 });
  const issued: string[] = [];
  const retries: string[] = [];
  const clock = new SystemClock();
  const adapter = new OssObjectStore(
    {
      ...{ region: double.region, endpoint: double.endpoint, addressing: 'path', maxSockets: inFlight },
      credentials: {
        ...{ kind: 'sts', roleArn: 'acs:ram::1:role/test', sessionName: 'test', durationSeconds: 900 },
        source: double.accessKey,
      },
    },
    clock,
    async () => {
      const { expiresAt, ...keys } = double.keys.issue(issued.length === 0 ? lifetimeMs : 3_600_000);
      issued.push(keys.accessKeyId);
      // STS takes a while, in which requests go on.
      await clock.sleep(100);
      return { ...keys, expiration: new Date(expiresAt) };
    },
  );
  store = decorate(adapter, {
    ...{ name: 'oss', clock, random: new SystemRandom() },
    metrics: {
      count: (name, labels) => {
        if (name.includes('retries')) retries.push(labels?.['reason'] ?? '');
      },
      observe: () => undefined,
      gauge: () => undefined,
    },
    retry: { attempts: 4, baseDelayMs: 10, maxDelayMs: 100 },
    limit: { requests: inFlight, transfers: inFlight },
    timeout: { requestMs: 30_000, completeMs: 30_000 },
  });
  return { store, issued, retries };
}

async function write(to: ObjectStore, name: string): Promise<void> {
  const object = { bucket, key: `table/${name}` };
  const upload = { ...object, uploadId: await to.initiate(object, {}) };
  const part = await to.uploadPart(upload, 1, Buffer.from(name));
  await to.complete(upload, [part], {});
}

const names = Array.from({ length: files }, (_, i) => `part-${i}`);

describe(`a job with ${inFlight} requests in flight, on temporary credentials`, () => {
  it('fetches the next ones once, ahead of the end, and no call fails', async () => {
    // A quarter of their life before the end: in the middle of the job.
    const { store: oss, issued, retries } = await start(8_000);
    const isEnough = (): boolean => issuedAtMs !== undefined && Date.now() > issuedAtMs + 1_000;
    let issuedAtMs: number | undefined;
    let written = 0;
    await mapLimit(
      Array.from({ length: inFlight }, (_, worker) => worker),
      inFlight,
      async (worker) => {
        for (let i = 0; !isEnough(); i++, written++) {
          await write(oss, `${worker}-${i}`);
          if (issued.length > 1) issuedAtMs ??= Date.now();
        }
      },
    );
    expect(written).toBeGreaterThan(inFlight);
    expect(issued).toHaveLength(2);
    expect(retries).toEqual([]);
    expect(double.select({}).filter(({ status }) => (status ?? 0) >= 400)).toEqual([]);
  });

  it('that are revoked in the middle: one fetch, every refused request is sent again, no call fails', async () => {
    const { store: oss, issued, retries } = await start(3_600_000);
    let done = 0;
    await mapLimit(names, inFlight, async (name) => {
      if (++done === files / 2) double.keys.expire(issued[0]!);
      await write(oss, name);
    });
    expect(issued).toHaveLength(2);
    const refused = double.select({}).filter(({ status }) => (status ?? 0) >= 400);
    expect(refused.length).toBeGreaterThan(1);
    expect(refused.every(({ status }) => status === 403)).toBe(true);
    expect(retries).toEqual(refused.map(() => 'expired-credentials'));
    expect((await oss.list(bucket, 'table/', {})).objects).toHaveLength(files);
  });
});
