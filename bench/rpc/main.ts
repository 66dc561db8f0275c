import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon } from '../../scripts/lib/daemon.js';
import { mapLimit } from '../../src/app/map-limit.js';
import { DaemonClient } from '../../test/support/memory-daemon/client.js';
import { repoRoot } from '../../test/support/servers/index.js';
import { options } from '../lib/options.js';
import { rssMb } from '../lib/process-usage.js';
import { median, quantile, report, rounded, say } from '../lib/report.js';
import { Sink } from '../lib/sink.js';

/** What the protocol lets each call wait for, one after the other, at the store. */
const roundTrips = { setupTask: 0, commitTask: 2 } as const;
type Call = keyof typeof roundTrips;

/** Milliseconds beyond the store's round trips. */
interface Times {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

interface Row {
  readonly over: string;
  readonly call: Call;
  readonly inFlight: number;
  readonly daemon: Times;
  /** A server of grpc-js that does nothing, in the same state. */
  readonly bare: Times;
  /** What the daemon adds to that. */
  readonly own: { readonly p50: number; readonly p99: number };
}

const bucket = 'bench';
/** Longer than the daemon takes to give back what its start left. */
const idleMs = 20_000;
const chosen = options({
  calls: 4_000,
  rounds: 3,
  'latency-ms': 30,
  starts: 5,
  'in-flight': '1,16,64,256',
  'cpu-prof': '',
});
const profile = chosen['cpu-prof'];
const latencyMs = chosen['latency-ms'];
const levels = chosen['in-flight'].split(',').map(Number);

const sink = await Sink.start();
const home = await mkdtemp(join(tmpdir(), 'commitbridge-bench-'));
const socket = `unix://${join(home, 'daemon.sock')}`;
const bareSocket = `unix://${join(home, 'bare.sock')}`;
const start = (): Promise<Daemon> =>
  Daemon.start({
    store: sink.access,
    bucket,
    config: { listen: ['127.0.0.1:0', socket], store: { maxConnections: 512 } },
    nodeArgs: profile === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
  });
try {
  const { readyMs, idleRss } = await startAndIdle();
  await sink.set({ latency_ms: latencyMs });
  const tripMs = await sink.roundTripMs();
  const daemon = await start();
  const bare = await startBare();
  const rows: Row[] = [];
  try {
    for (const [over, address, bareAddress] of [
      ['unix socket', socket, bareSocket],
      ['TCP', daemon.endpoint, bare.endpoint],
    ] as const) {
      const client = new DaemonClient(address);
      const bareClient = new DaemonClient(bareAddress);
      await warmUp(client, over);
      await warmUpBare(bareClient);
      for (const inFlight of levels)
        for (const call of ['setupTask', 'commitTask'] as const) {
          const waits = roundTrips[call] * tripMs;
          const ours: Times[] = [];
          const floors: Times[] = [];
          for (let round = 0; round < chosen.rounds; round++) {
            const token = `${over.replace(' ', '-')}-${call}-${inFlight}-${round}`;
            ours.push(await measureDaemon(client, token, call, inFlight, waits));
            floors.push(await measure(bareClient, 'bare', call, inFlight, roundTrips[call] * latencyMs));
          }
          const [times, floor] = [medians(ours), medians(floors)];
          const own = { p50: times.p50 - floor.p50, p99: times.p99 - floor.p99 };
          rows.push({ over, call, inFlight, daemon: times, bare: floor, own });
        }
      client.close();
      bareClient.close();
    }
  } finally {
    bare.stop();
    await daemon.stop();
  }
  say(
    `store: ${latencyMs} ms a request, ${rounded(tripMs, 1)} measured; milliseconds beyond the round trips to it, ` +
      'client included; own: beyond what a server of grpc-js takes that does nothing',
  );
  const chief = rows.filter(({ inFlight, over }) => inFlight === 64 && over === 'unix socket');
  const of = (call: Call): Row | undefined => chief.find((row) => row.call === call);
  const ms = (value: number): string => value.toFixed(1);
  report(
    chosen.json,
    [
      ['', 'call', 'in flight', 'calls a second', 'p50 ms', 'p99', 'gRPC alone p50', 'p99', 'own p50', 'p99'],
      ...rows.map((row) => [
        ...[row.over, row.call, String(row.inFlight), String(Math.round(row.daemon.perSecond))],
        ...[row.daemon, row.bare, row.own].flatMap(({ p50, p99 }) => [ms(p50), ms(p99)]),
      ]),
      ['daemon ready', `${Math.round(readyMs)} ms`, ...Array.from({ length: 8 }, () => '')],
      ['idle RSS', `${idleRss} MB`, ...Array.from({ length: 8 }, () => '')],
    ],
    {
      in_flight: 64,
      latency_ms: latencyMs,
      rounds: chosen.rounds,
      p50_ms: rounded(of('commitTask')?.own.p50 ?? NaN),
      p99_ms: rounded(of('commitTask')?.own.p99 ?? NaN),
      calls_per_s: Math.round(of('commitTask')?.daemon.perSecond ?? NaN),
      setup_task: {
        p50_ms: rounded(of('setupTask')?.own.p50 ?? NaN),
        p99_ms: rounded(of('setupTask')?.own.p99 ?? NaN),
        calls_per_s: Math.round(of('setupTask')?.daemon.perSecond ?? NaN),
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

async function startBare(): Promise<{ readonly endpoint: string; stop(): void }> {
  const program = join(repoRoot, 'bench/rpc/bare-server.mjs');
  const args = [program, `127.0.0.1:0,${bareSocket}`, String(roundTrips.commitTask * latencyMs)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const [port] = line.split(' ');
    return { endpoint: `127.0.0.1:${port ?? ''}`, stop: () => void child.kill() };
  }
  throw new Error('The bare server said nothing.');
}

async function measureDaemon(
  client: DaemonClient,
  token: string,
  call: Call,
  inFlight: number,
  waitsMs: number,
): Promise<Times> {
  await setUp(client, token);
  await sink.set({ latency_ms: latencyMs });
  await sink.forgetCounts();
  const times = await measure(client, token, call, inFlight, waitsMs);
  const { counts } = await sink.state();
  const requests = Object.values(counts).reduce((sum, count) => sum + count, 0);
  // The ledger's look at the clock aside, nothing else may ask the store.
  if (requests > roundTrips[call] * callsAt(inFlight) + 10)
    throw new Error(
      `${call} sent ${requests} requests for ${callsAt(inFlight)} calls: ${JSON.stringify(counts)}`,
    );
  return times;
}

/** Calls that wait for a store begin spread over its time: a cluster's tasks don't end all at one instant. */
async function measure(
  client: DaemonClient,
  token: string,
  call: Call,
  inFlight: number,
  waitsMs: number,
): Promise<Times> {
  const job = jobOf(token);
  const times: number[] = [];
  let next = 0;
  const started = performance.now();
  const worker = async (_: unknown, index: number): Promise<void> => {
    await sleep((index * waitsMs) / inFlight);
    for (let task = next++; task < callsAt(inFlight); task = next++) {
      const sent = performance.now();
      const attempt = attemptOf(token, task);
      if (call === 'setupTask') await client.setupTask({ job, attempt });
      else await client.commitTask({ job, attempt, fileCount: 0 });
      times.push(performance.now() - sent - waitsMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const perSecond = callsAt(inFlight) / ((performance.now() - started) / 1_000);
  times.sort((a, b) => a - b);
  return { perSecond, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

function medians(rounds: readonly Times[]): Times {
  const of = (which: keyof Times): number => median(rounds.map((times) => times[which]));
  return { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99') };
}

/** A few at a time, calls that wait for the store take their time: fewer of them. */
function callsAt(inFlight: number): number {
  return Math.max(inFlight, Math.min(chosen.calls, 60 * inFlight));
}

async function warmUp(client: DaemonClient, over: string): Promise<void> {
  const token = `${over.replace(' ', '-')}-warm`;
  await setUp(client, token);
  await callEach(client, token);
}

async function warmUpBare(client: DaemonClient): Promise<void> {
  await callEach(client, 'bare-warm');
}

async function callEach(client: DaemonClient, token: string): Promise<void> {
  const job = jobOf(token);
  const tasks = Array.from({ length: 2_000 }, (_, task) => task);
  await mapLimit(tasks, 64, async (task) => {
    const attempt = attemptOf(token, task);
    await client.setupTask({ job, attempt });
    await client.commitTask({ job, attempt, fileCount: 0 });
  });
}

async function setUp(client: DaemonClient, token: string): Promise<void> {
  await sink.set({ latency_ms: 0 });
  await client.setupJob({ job: jobOf(token), setupId: token, protocolVersion: 1 });
}

function jobOf(token: string) {
  return { tokens: [token], jobAttempt: 0, destination: `s3a://${bucket}/${token}` };
}

function attemptOf(token: string, task: number) {
  const name = String(task).padStart(6, '0');
  return { task: `m-${name}`, attemptNumber: 0, attemptId: `attempt_${token}_m_${name}_0` };
}
