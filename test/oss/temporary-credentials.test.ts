import { afterEach, describe, expect, it } from 'vitest';
import { decorate } from '../../src/adapters/decorators/decorate.js';
import { OssObjectStore } from '../../src/adapters/oss/oss-object-store.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import { SystemRandom } from '../../src/adapters/system/random.js';
import { mapLimit } from '../../src/app/map-limit.js';
import type { MemoryObjectStore } from '../../src/adapters/memory/memory-object-store.js';
import type { ObjectStore } from '../../src/ports/object-store.js';
import { bucket, closeAllDaemons, startMemoryDaemon } from '../support/memory-daemon/index.js';
import { OssDouble } from '../support/oss-double/index.js';

const inFlight = 64;
const files = 640;

let double: OssDouble;
/** What the clocks of the double and of the adapter are ahead of this machine's. */
let aheadMs = 0;
let store: ObjectStore | undefined;
afterEach(async () => {
  await closeAllDaemons();
  await store?.close();
  await double.stop();
});

/** Calls of the store that have not ended. */
const underWay = new Set<Promise<unknown>>();

async function call<T>(made: Promise<T>): Promise<T> {
  underWay.add(made);
  try {
    return await made;
  } finally {
    underWay.delete(made);
  }
}

function answered(): number {
  return double.select({}).filter(({ outcome }) => outcome !== undefined).length;
}

/** A store whose role gives keys that live so long at first; tells how often it was asked, and beside how many requests. */
async function start(lifetimeMs: number): Promise<{
  store: ObjectStore;
  issued: string[];
  retries: string[];
  asked: { underWay: number; answeredMeanwhile: number }[];
}> {
  aheadMs = 0;
  const nowMs = (): number => Date.now() + aheadMs;
  double = await OssDouble.start({ buckets: [bucket], latencyMs: 20, now: nowMs });
  const issued: string[] = [];
  const retries: string[] = [];
  const asked: { underWay: number; answeredMeanwhile: number }[] = [];
  const clock = Object.assign(new SystemClock(), { nowMs });
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
      const [before, busy] = [answered(), underWay.size];
      // STS takes a while, in which requests go on.
      await clock.sleep(200);
      asked.push({ underWay: busy, answeredMeanwhile: answered() - before });
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
  return { store, issued, retries, asked };
}

async function write(to: ObjectStore, name: string): Promise<void> {
  const object = { bucket, key: `table/${name}` };
  const upload = { ...object, uploadId: await call(to.initiate(object, {})) };
  const part = await call(to.uploadPart(upload, 1, Buffer.from(name)));
  await call(to.complete(upload, [part], {}));
}

const names = Array.from({ length: files }, (_, i) => `part-${i}`);

describe(`a job with ${inFlight} requests in flight, on temporary credentials`, () => {
  it('fetches the next ones once, ahead of the end, while it goes on; the old ones end, and no call fails', async () => {
    const { store: oss, issued, retries, asked } = await start(900_000);
    let isOver = false;
    const job = mapLimit(
      Array.from({ length: inFlight }, (_, worker) => worker),
      inFlight,
      async (worker) => {
        for (let i = 0; !isOver; i++) await write(oss, `${worker}-${i}`);
      },
    );
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await until(() => answered() > 3 * inFlight);
    // Less than a quarter of their life is left.
    aheadMs = 700_000;
    await until(() => issued.length > 1);
    await until(() => asked.length > 1);
    // What may have been signed with them has been answered.
    await Promise.all(underWay);
    const signed = answered();
    await until(() => answered() > signed + 3 * inFlight);
    // They are over.
    aheadMs = 1_000_000;
    const since = answered();
    await until(() => answered() > since + 3 * inFlight);
    isOver = true;
    await job;
    expect(issued).toHaveLength(2);
    expect(asked[1]!.underWay).toBe(inFlight);
    expect(asked[1]!.answeredMeanwhile).toBeGreaterThan(0);
    expect(retries).toEqual([]);
    expect(double.select({}).filter(({ status }) => (status ?? 0) >= 400)).toEqual([]);
  });

  it('whose end is too near to sign with: all wait for one fetch, and no call fails', async () => {
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

/** The key id that a presigned request names. */
function signer(target: string): string {
  return new URL(target, 'http://host').searchParams.get('x-oss-credential')?.split('/')[0] ?? '';
}

/** From when the next request of that key, which was signed before, has arrived. */
function revokeAtArrival(kind: 'put' | 'delete', key: RegExp): void {
  double.on(
    { kind, key, times: 1 },
    {
      before: ({ target }) => {
        double.keys.expire(signer(target));
        return undefined;
      },
    },
  );
}

function sentTo(kind: 'put' | 'delete', key: RegExp): { status: number | undefined; by: string }[] {
  return double.select({ kind, key }).map(({ status, target }) => ({ status, by: signer(target) }));
}

describe('temporary credentials that are revoked between signing and sending', () => {
  it.each(['put', 'delete'] as const)(
    'a %s: is sent once, and the next one is signed with others',
    async (kind) => {
      const { store: oss, issued, retries } = await start(3_600_000);
      const object = { bucket, key: 'table/fenced' };
      const signAndSend = async (): Promise<unknown> => {
        if (kind === 'put') {
          const prepared = await oss.preparePut(object, {}, 30);
          return oss.sendPut(prepared, Buffer.from('x'));
        }
        return oss.sendDelete(await oss.prepareDelete(object, 30));
      };
      revokeAtArrival(kind, /fenced$/);
      await expect(signAndSend()).rejects.toMatchObject({ kind: 'expired-credentials' });
      await signAndSend();
      expect(retries).toEqual([]);
      expect(issued).toHaveLength(2);
      const [refused, taken, ...more] = sentTo(kind, /fenced$/);
      expect([refused, more]).toEqual([{ status: 403, by: issued[0] }, []]);
      expect(taken).toMatchObject({ by: issued[1] });
      expect(taken?.status).toBeLessThan(300);
    },
  );

  it('an unknown key id of them counts as their end', async () => {
    const { store: oss, issued } = await start(3_600_000);
    const object = { bucket, key: 'table/fenced' };
    const prepared = await oss.preparePut(object, {}, 30);
    double.keys.forget(issued[0]!);
    const sent = oss.sendPut(prepared, Buffer.from('x'));
    await expect(sent).rejects.toMatchObject({
      kind: 'expired-credentials',
      details: { code: 'InvalidAccessKeyId' },
    });
    await oss.sendPut(await oss.preparePut(object, {}, 30), Buffer.from('x'));
    expect(issued).toHaveLength(2);
  });

  it('a job: its inline file and its marker are signed again, and it is done', async () => {
    const { store: oss, issued, retries } = await start(3_600_000);
    const { client } = await startMemoryDaemon({ memory: oss as unknown as MemoryObjectStore });
    const uri = `s3a://${bucket}/oss-job`;
    const job = { tokens: ['revoked'], jobAttempt: 0, destination: uri };
    await client.setupJob({ job, setupId: 'revoked', options: {}, protocolVersion: 1 });
    const attempt = { task: 'm-000000', attemptNumber: 0, attemptId: 'attempt_revoked' };
    const inline = { uri: `${uri}/a`, content: Buffer.from('inline') };
    await client.commitTask({ job, attempt, fileCount: 1 }, [{ inline }]);
    const fenced = [/oss-job\/a$/, /oss-job\/_SUCCESS$/];
    for (const key of fenced) revokeAtArrival('put', key);
    await client.commitJob({ job });
    for (const key of fenced) {
      const [refused, taken, ...more] = sentTo('put', key);
      expect([refused?.status, taken?.status, more]).toEqual([403, 200, []]);
      expect(taken?.by).not.toBe(refused?.by);
    }
    expect(issued).toHaveLength(3);
    expect(retries).toEqual([]);
    const outcome = await oss.get({ bucket, key: '.commitbridge/jobs/revoked/0/outcome.json' });
    expect(JSON.parse(Buffer.from(outcome?.body ?? '').toString())).toMatchObject({ outcome: 'done' });
  });
});
