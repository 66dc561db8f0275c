import { OssObjectStore } from '../../src/adapters/oss/oss-object-store.js';
import { OssSigner } from '../../src/adapters/oss/oss-signer.js';
import { LeanTransport, type HttpRequest } from '../../src/adapters/lean-transport.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import { mapLimit } from '../../src/app/map-limit.js';
import type { CompletedPart, UploadRef } from '../../src/ports/object-store.js';
import { OssDoubleProcess } from '../../test/support/oss-double/index.js';
import { options } from '../lib/options.js';
import { median, report, rounded, say } from '../lib/report.js';
import { Sink } from '../lib/sink.js';

/** Completions a second through the adapter `oss`, against what the latency allows: ceil(N / C) × latency. */

const bucket = 'bench';
/** A share of the server's ceiling above which the server is what is measured. */
const ceilingShare = 0.8;
const chosen = options({ files: 4_096, rounds: 3, 'latency-ms': 30 });
const { files, rounds } = chosen;
const latencyMs = chosen['latency-ms'];

interface Server {
  readonly name: string;
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: { readonly accessKeyId: string; readonly accessKeySecret: string };
  setLatency(ms: number): Promise<void>;
}

interface Measured {
  readonly server: string;
  readonly signature: 'v1' | 'v4';
  readonly c: number;
  readonly a_second: number;
  readonly ratio_to_ideal: number;
  readonly cpu_us_per_complete: number;
  readonly server_ceiling_per_s: number;
  /** False where the server, not the adapter, may be what was measured. */
  readonly counts: boolean;
}

const double = await OssDoubleProcess.start({ buckets: [bucket] });
const sink = await Sink.start();
const servers: Server[] = [
  {
    name: 'double of OSS',
    endpoint: double.endpoint,
    region: double.region,
    accessKey: double.accessKey,
    setLatency: (ms) => double.setLatency(ms),
  },
  {
    // It answers as S3 does, which is the same for these calls, and checks neither signatures nor parts.
    name: 'sink',
    endpoint: sink.access.endpoint,
    region: 'cn-hangzhou',
    accessKey: { accessKeyId: sink.access.accessKey, accessKeySecret: sink.access.secretKey },
    setLatency: (ms) => sink.set({ latency_ms: ms }),
  },
];
const rows: Measured[] = [];
try {
  for (const server of servers) {
    for (const [signature, concurrency] of [
      ['v4', 64],
      ['v4', 256],
      ['v1', 256],
    ] as const) {
      rows.push(await measure(server, signature, concurrency));
      say(JSON.stringify(rows.at(-1)));
    }
  }
  say(`${files} Completes, ${latencyMs} ms each; median of ${rounds}`);
  report(
    chosen.json,
    [
      [
        '',
        'signature',
        'at a time',
        'a second',
        'time ÷ ideal',
        'CPU µs a Complete',
        'of the server’s ceiling',
      ],
      ...rows.map((row) => [
        ...[row.server, row.signature, String(row.c), String(row.a_second), row.ratio_to_ideal.toFixed(2)],
        String(row.cpu_us_per_complete),
        `${Math.round((100 * row.a_second) / row.server_ceiling_per_s)} %${row.counts ? '' : ' (too near)'}`,
      ]),
    ],
    { n: files, latency_ms: latencyMs, rounds, runs: rows },
  );
} finally {
  await double.stop();
  await sink.stop();
}

async function measure(server: Server, signature: 'v1' | 'v4', concurrency: number): Promise<Measured> {
  const { region, endpoint, accessKey } = server;
  const store = new OssObjectStore(
    {
      ...{ region, endpoint, addressing: 'path', signature, maxSockets: concurrency },
      credentials: { kind: 'static', ...accessKey },
    },
    new SystemClock(),
  );
  const runs: { seconds: number; cpuUs: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const uploads = await open(store, server, concurrency, `${signature}-${concurrency}-${round}`);
    await server.setLatency(latencyMs);
    const cpu = process.cpuUsage();
    const seconds = await timed(() =>
      mapLimit(uploads, concurrency, ({ upload, part }) => store.complete(upload, [part], {})),
    );
    const { user, system } = process.cpuUsage(cpu);
    runs.push({ seconds, cpuUs: user + system });
  }
  const ceiling = await ceilingOf(store, server, concurrency, `ceiling-${signature}-${concurrency}`);
  await store.close();
  const seconds = median(runs.map((run) => run.seconds));
  const idealSeconds = (Math.ceil(files / concurrency) * latencyMs) / 1_000;
  const aSecond = Math.round(files / seconds);
  return {
    ...{ server: server.name, signature, c: concurrency, a_second: aSecond },
    ratio_to_ideal: rounded(seconds / idealSeconds),
    cpu_us_per_complete: Math.round(median(runs.map((run) => run.cpuUs)) / files),
    server_ceiling_per_s: ceiling,
    counts: aSecond <= ceilingShare * ceiling,
  };
}

interface Open {
  readonly upload: UploadRef;
  readonly part: CompletedPart;
}

async function open(
  store: OssObjectStore,
  server: Server,
  concurrency: number,
  prefix: string,
): Promise<readonly Open[]> {
  await server.setLatency(0);
  const body = Buffer.from('one part');
  return mapLimit(
    Array.from({ length: files }, (_, i) => `${prefix}/file-${i}`),
    concurrency,
    async (key) => {
      const upload = { bucket, key, uploadId: await store.initiate({ bucket, key }, {}) };
      return { upload, part: await store.uploadPart(upload, 1, body) };
    },
  );
}

/** Completes a second at no latency, signed beforehand and sent by a bare HTTP client. */
async function ceilingOf(
  store: OssObjectStore,
  server: Server,
  concurrency: number,
  prefix: string,
): Promise<number> {
  const uploads = await open(store, server, concurrency, prefix);
  const signer = new OssSigner('v4', server.region);
  const requests = uploads.map(({ upload: { key, uploadId }, part: { etag } }): HttpRequest => ({
    origin: server.endpoint,
    path: `/${bucket}/${key}?uploadId=${uploadId}`,
    method: 'POST',
    headers: signer.sign(
      { method: 'POST', bucket, key, subresources: { uploadId }, headers: {} },
      server.accessKey,
      Date.now(),
    ),
    body: Buffer.from(
      `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`,
    ),
  }));
  const transport = new LeanTransport({ maxSockets: concurrency }, new SystemClock());
  const seconds = await timed(() =>
    mapLimit(requests, concurrency, async (request) => {
      const { status, body } = await transport.send(request, undefined);
      if (status !== 200) throw new Error(`${server.name} answered ${status}: ${body.toString()}`);
    }),
  );
  await transport.close();
  return Math.round(files / seconds);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}
