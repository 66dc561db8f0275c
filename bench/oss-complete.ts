/**
 * Completions a second through the oss adapter, against a double of OSS in a process of its own that takes 30 ms for
 * each. `ratio` is the time against ceil(N / C) * 30 ms, which nobody who waits for answers can beat.
 */
import { OssObjectStore } from '../src/adapters/oss/oss-object-store.js';
import { SystemClock } from '../src/adapters/system/clock.js';
import { mapLimit } from '../src/app/map-limit.js';
import { OssDoubleProcess } from '../test/support/oss-double/index.js';

const bucket = 'bench';
const latencyMs = 30;
const count = Number(process.env['COMMITBRIDGE_BENCH_FILES'] ?? 4_096);
const rounds = 3;

const double = await OssDoubleProcess.start({ buckets: [bucket] });
try {
  for (const [signature, concurrency] of [
    ['v4', 64],
    ['v4', 256],
    ['v1', 256],
  ] as const) {
    const store = new OssObjectStore(
      {
        ...{ region: double.region, endpoint: double.endpoint, addressing: 'path', signature },
        credentials: { kind: 'static', ...double.accessKey },
        maxSockets: concurrency,
      },
      new SystemClock(),
    );
    const runs: { seconds: number; cpuMs: number }[] = [];
    for (let round = 0; round < rounds; round++)
      runs.push(await complete(store, concurrency, `${signature}-${concurrency}-${round}`));
    await store.close();
    const best = runs.sort((a, b) => a.seconds - b.seconds)[0] ?? { seconds: NaN, cpuMs: NaN };
    const idealSeconds = (Math.ceil(count / concurrency) * latencyMs) / 1_000;
    report({
      signature,
      concurrency,
      files: count,
      seconds: round(best.seconds, 2),
      a_second: Math.round(count / best.seconds),
      ratio: round(best.seconds / idealSeconds, 2),
      cpu_ms_a_complete: round(best.cpuMs / count, 3),
    });
  }
} finally {
  await double.stop();
}

async function complete(
  store: OssObjectStore,
  concurrency: number,
  prefix: string,
): Promise<{ seconds: number; cpuMs: number }> {
  await double.setLatency(0);
  const body = Buffer.from('one part');
  const uploads = await mapLimit(
    Array.from({ length: count }, (_, i) => `${prefix}/file-${i}`),
    concurrency,
    async (key) => {
      const upload = { bucket, key, uploadId: await store.initiate({ bucket, key }, {}) };
      return { upload, part: await store.uploadPart(upload, 1, body) };
    },
  );
  await double.setLatency(latencyMs);
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  await mapLimit(uploads, concurrency, ({ upload, part }) => store.complete(upload, [part], {}));
  const seconds = (performance.now() - started) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return { seconds, cpuMs: (user + system) / 1_000 };
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

function report(result: object): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
