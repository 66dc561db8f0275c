import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Daemon } from '../../scripts/lib/daemon.js';
import { DaemonClient } from '../../test/support/memory-daemon/client.js';
import { repoRoot } from '../../test/support/servers/index.js';
import { prepareJob } from '../lib/job.js';
import { completeLoop } from '../lib/java-programs.js';
import { options } from '../lib/options.js';
import { cpuSeconds, rssMb } from '../lib/process-usage.js';
import { buildPrograms } from '../lib/programs.js';
import { median, report, rounded, say } from '../lib/report.js';
import { Sink } from '../lib/sink.js';

/** What a run of one of them took. */
interface Run {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** From the first Complete to the last answer, as the sink saw it. */
  readonly completeSeconds: number;
}

const bucket = 'bench';
/** Uploads that a program which compiles as it runs completes before it's measured. */
const warmUp = 2_000;
/** A share of the sink's ceiling above which the sink is what is measured. */
const ceilingShare = 0.8;

const chosen = options({
  files: 10_000,
  concurrency: 64,
  'latency-ms': 30,
  tasks: 0,
  rounds: 3,
  peers: 'go,js,java',
  'cpu-prof': '',
});
const { files, concurrency, rounds } = chosen;
const latencyMs = chosen['latency-ms'];
const tasks = chosen.tasks === 0 ? Math.max(1, Math.round(files / 100)) : chosen.tasks;
const profile = chosen['cpu-prof'];
const idealSeconds = (Math.ceil(files / concurrency) * latencyMs) / 1_000;

const programs = await buildPrograms();
const sink = await Sink.start();
const daemon = await Daemon.start({
  store: sink.access,
  bucket,
  config: {
    store: { maxConnections: concurrency },
    limits: { completeConcurrency: concurrency },
  },
  nodeArgs: profile === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
});
const client = new DaemonClient(daemon.endpoint);
try {
  const ceiling = await sink.ceiling(concurrency);
  const peers: Record<string, (round: number) => Promise<Run>> = {
    go: goLoop,
    js: sdkLoop,
    java: javaSdkLoop,
  };
  const names = chosen.peers.split(',').filter((peer) => peer !== '');
  for (const name of names)
    if (peers[name] === undefined)
      throw new Error(`--peers takes ${Object.keys(peers).join(', ')}, not '${name}'.`);
  const runs: Record<string, Run[]> = { commitbridge: [] };
  for (let round = 0; round < rounds; round++) {
    runs['commitbridge']?.push(await commitJob(round));
    for (const name of names) {
      const run = await peers[name]?.(round);
      if (run !== undefined) (runs[name] ??= []).push(run);
    }
    say(`round ${round + 1} of ${rounds}: ${Object.entries(runs).map(show).join('  ')}`);
  }
  const medians = Object.fromEntries(
    Object.entries(runs).map(([name, list]) => [
      name,
      {
        seconds: median(list.map((run) => run.seconds)),
        cpu: median(list.map((run) => run.cpuSeconds)),
        completing: median(list.map((run) => run.completeSeconds)),
      },
    ]),
  );
  const rss = rssMb(daemon.pid, 'peak');
  const rows = Object.entries(medians).map(([name, { seconds, cpu, completing }]) => [
    name,
    rounded(seconds / idealSeconds, 3).toFixed(3),
    rounded(completing / idealSeconds, 3).toFixed(3),
    seconds.toFixed(2),
    String(Math.round((cpu / files) * 1e6)),
    `${Math.round((100 * files) / seconds / ceiling)} %${files / seconds > ceilingShare * ceiling ? ' (too near)' : ''}`,
    name === 'commitbridge' ? String(rss) : '',
  ]);
  say(
    `${files} files, ${tasks} tasks, ${concurrency} at a time, ${latencyMs} ms a request; median of ${rounds}`,
  );
  const ratio = (name: string, of: 'seconds' | 'completing' = 'seconds'): number | undefined => {
    const found = medians[name];
    return found === undefined ? undefined : rounded(found[of] / idealSeconds, 3);
  };
  report(
    chosen.json,
    [
      [
        ...['', 'time ÷ ideal', 'Completes alone', 'seconds', 'CPU µs a file', 'of the sink’s ceiling'],
        'peak RSS MB',
      ],
      ...rows,
    ],
    {
      n: files,
      c: concurrency,
      latency_ms: latencyMs,
      tasks,
      ratio_to_ideal: ratio('commitbridge'),
      go_ratio_to_ideal: ratio('go'),
      completes_ratio_to_ideal: ratio('commitbridge', 'completing'),
      go_completes_ratio_to_ideal: ratio('go', 'completing'),
      js_sdk_ratio_to_ideal: ratio('js'),
      java_sdk_ratio_to_ideal: ratio('java'),
      cpu_us_per_file: Math.round(((medians['commitbridge']?.cpu ?? NaN) / files) * 1e6),
      rss_mb: rss,
      sink_requests_per_s: Math.round(ceiling),
      counts: files / (medians['commitbridge']?.seconds ?? NaN) <= ceilingShare * ceiling,
    },
  );
} finally {
  client.close();
  await daemon.stop();
  await sink.stop();
}

async function commitJob(round: number): Promise<Run> {
  await sink.set({ latency_ms: 0 });
  const destination = `s3a://${bucket}/bridge-${round}`;
  const job = await prepareJob(client, { token: `bench-${round}`, destination, files, tasks });
  await sink.set({ latency_ms: latencyMs });
  await sink.forgetCounts();
  const cpu = cpuSeconds(daemon.pid);
  const started = performance.now();
  const { files: published } = await client.commitJob({ job });
  const seconds = (performance.now() - started) / 1_000;
  const used = cpuSeconds(daemon.pid) - cpu;
  const { counts, complete_seconds: completeSeconds } = await sink.state();
  const run = { seconds, cpuSeconds: used, completeSeconds };
  const { complete } = counts;
  if (Number(published) !== files || complete !== files)
    throw new Error(`${published} of ${files} files were published by ${complete ?? 0} Completes.`);
  return run;
}

async function goLoop(round: number): Promise<Run> {
  return loop('go', round, programs.complete, [
    ...['-endpoint', sink.access.endpoint, '-concurrency', String(concurrency)],
  ]);
}

async function sdkLoop(round: number): Promise<Run> {
  const program = join(repoRoot, 'bench/commit/sdk-loop.mjs');
  const args = [program, sink.access.endpoint, String(concurrency), String(warmUp)];
  return loop('js', round, process.execPath, args, warmUp);
}

async function javaSdkLoop(round: number): Promise<Run> {
  const args = [...(await completeLoop()), sink.access.endpoint, String(concurrency), String(warmUp)];
  return loop('java', round, 'java', args, warmUp);
}

/** Runs a program that completes the uploads on its stdin and says how long that took, after `more` of them. */
async function loop(
  name: string,
  round: number,
  program: string,
  args: readonly string[],
  more = 0,
): Promise<Run> {
  const uploads = await sink.openUploads(bucket, `${name}-${round}`, files + more);
  await sink.set({ latency_ms: latencyMs });
  await sink.forgetCounts();
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(uploads);
  let said = '';
  for await (const text of child.stdout.setEncoding('utf8')) said += String(text);
  if (said === '') throw new Error(`The loop of ${name} said nothing.`);
  const { seconds, cpu_s } = JSON.parse(said) as { seconds: number; cpu_s: number };
  // Where it has warmed up first, its own clock is the only one.
  const { complete_seconds: seen } = await sink.state();
  return { seconds, cpuSeconds: cpu_s, completeSeconds: more > 0 ? seconds : seen };
}

function show([name, list]: [string, Run[]]): string {
  return `${name} ${list.at(-1)?.seconds.toFixed(2) ?? ''} s`;
}
