import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon } from '../../scripts/lib/daemon.js';
import { mapLimit } from '../../src/app/map-limit.js';
import { DaemonClient } from '../../test/support/memory-daemon/client.js';
import { options } from '../lib/options.js';
import { rssMb } from '../lib/process-usage.js';
import { median, quantile, report, rounded, say } from '../lib/report.js';
import { Sink } from '../lib/sink.js';

/** What the protocol lets each call wait for, one after the other, at the store. */
const roundTrips = { setupTask: 0, commitTask: 2 } as const;
type Call = keyof typeof roundTrips;

interface Row {
  readonly over: string;
  readonly call: Call;
  readonly inFlight: number;
  readonly perSecond: number;
  /** Without the store's round trips. */
  readonly p50: number;
  readonly p99: number;
}

const bucket = 'bench';
/** Longer than the daemon takes to give back what its start left. */
const idleMs = 20_000;
const chosen = options({ calls: 2_000, 'latency-ms': 30, starts: 5, 'in-flight': '1,16,64,256' });
const latencyMs = chosen['latency-ms'];
const levels = chosen['in-flight'].split(',').map(Number);

const sink = await Sink.start();
const home = await mkdtemp(join(tmpdir(), 'commitbridge-bench-'));
const socket = `unix://${join(home, 'daemon.sock')}`;
const start = (): Promise<Daemon> =>
  Daemon.start({
    store: sink.access,
    bucket,
    config: { listen: ['127.0.0.1:0', socket], store: { maxConnections: 512 } },
  });
try {
  const { readyMs, idleRss } = await startAndIdle();
  const daemon = await start();
  const rows: Row[] = [];
  try {
    for (const [over, address] of [
      ['unix socket', socket],
      ['TCP', daemon.endpoint],
    ] as const) {
      const client = new DaemonClient(address);
      await warmUp(client, over);
      for (const inFlight of levels)
        for (const call of ['setupTask', 'commitTask'] as const)
          rows.push(await measure(client, over, call, inFlight));
      client.close();
    }
  } finally {
    await daemon.stop();
  }
  say(
    `store: ${latencyMs} ms a request; milliseconds beyond the round trips to it, client and gRPC included`,
  );
  const chief = rows.filter(({ inFlight, over }) => inFlight === 64 && over === 'unix socket');
  const of = (call: Call): Row | undefined => chief.find((row) => row.call === call);
  report(
    chosen.json,
    [
      ['', 'call', 'in flight', 'calls a second', 'own p50 ms', 'own p99 ms'],
      ...rows.map(({ over, call, inFlight, perSecond, p50, p99 }) => [
        ...[over, call, String(inFlight), String(Math.round(perSecond)), p50.toFixed(1), p99.toFixed(1)],
      ]),
      ['daemon ready', `${Math.round(readyMs)} ms`, '', '', '', ''],
      ['idle RSS', `${idleRss} MB`, '', '', '', ''],
    ],
    {
      in_flight: 64,
      latency_ms: latencyMs,
      p50_ms: rounded(of('commitTask')?.p50 ?? NaN),
      p99_ms: rounded(of('commitTask')?.p99 ?? NaN),
      calls_per_s: Math.round(of('commitTask')?.perSecond ?? NaN),
      setup_task: {
        p50_ms: rounded(of('setupTask')?.p50 ?? NaN),
        p99_ms: rounded(of('setupTask')?.p99 ?? NaN),
      },
      ready_ms: Math.round(readyMs),
      idle_rss_mb: idleRss,
      rows,
    },
  );
} finally {
  await sink.stop();
  await rm(home, { recursive: true, force: true });
}

/** From the start of the process to the line that says that it listens. */
async function startAndIdle(): Promise<{ readyMs: number; idleRss: number }> {
  const times: number[] = [];
  const idle: number[] = [];
  for (let i = 0; i < chosen.starts; i++) {
    const started = performance.now();
    const daemon = await start();
    times.push(performance.now() - started);
    if (i === 0) await sleep(idleMs);
    idle.push(rssMb(daemon.pid, 'now'));
    await daemon.stop();
  }
  return { readyMs: median(times), idleRss: idle[0] ?? NaN };
}

async function measure(client: DaemonClient, over: string, call: Call, inFlight: number): Promise<Row> {
  const token = `${over.replace(' ', '-')}-${call}-${inFlight}`;
  const job = await setUp(client, token);
  await sink.set({ latency_ms: latencyMs });
  await sink.forgetCounts();
  const times: number[] = [];
  const started = performance.now();
  const numbers = Array.from({ length: Math.max(chosen.calls, inFlight) }, (_, task) => task);
  await mapLimit(numbers, inFlight, async (task) => {
    const sent = performance.now();
    const attempt = attemptOf(token, task);
    if (call === 'setupTask') await client.setupTask({ job, attempt });
    else await client.commitTask({ job, attempt, fileCount: 0 });
    times.push(performance.now() - sent - roundTrips[call] * latencyMs);
  });
  const seconds = (performance.now() - started) / 1_000;
  const { counts } = await sink.state();
  const requests = Object.values(counts).reduce((sum, count) => sum + count, 0);
  // The ledger's look at the clock aside, nothing else may ask the store.
  if (requests > roundTrips[call] * numbers.length + 10)
    throw new Error(
      `${call} sent ${requests} requests for ${numbers.length} calls: ${JSON.stringify(counts)}`,
    );
  times.sort((a, b) => a - b);
  const perSecond = numbers.length / seconds;
  return { over, call, inFlight, perSecond, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

async function warmUp(client: DaemonClient, over: string): Promise<void> {
  const token = `${over.replace(' ', '-')}-warm`;
  const job = await setUp(client, token);
  await mapLimit(
    Array.from({ length: 500 }, (_, task) => task),
    32,
    async (task) => {
      const attempt = attemptOf(token, task);
      await client.setupTask({ job, attempt });
      await client.commitTask({ job, attempt, fileCount: 0 });
    },
  );
}

async function setUp(client: DaemonClient, token: string) {
  await sink.set({ latency_ms: 0 });
  const job = { tokens: [token], jobAttempt: 0, destination: `s3a://${bucket}/${token}` };
  await client.setupJob({ job, setupId: token, protocolVersion: 1 });
  return job;
}

function attemptOf(token: string, task: number) {
  const name = String(task).padStart(6, '0');
  return { task: `m-${name}`, attemptNumber: 0, attemptId: `attempt_${token}_m_${name}_0` };
}
