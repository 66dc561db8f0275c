import { Daemon } from '../../scripts/lib/daemon.js';
import { DaemonClient } from '../../test/support/memory-daemon/client.js';
import { prepareJob } from '../lib/job.js';
import { options } from '../lib/options.js';
import { cpuSeconds, rssMb } from '../lib/process-usage.js';
import { report, rounded, say } from '../lib/report.js';
import { Sink } from '../lib/sink.js';

const bucket = 'bench';
const chosen = options({
  files: 1_000_000,
  tasks: 0,
  'latency-ms': 30,
  /** Of the logarithm of the latency: most answers between a half and double. */
  sigma: 0.35,
  'writes-per-second': 3_500,
  'reads-per-second': 5_500,
  concurrency: 512,
});
const { files, concurrency } = chosen;
const tasks = chosen.tasks === 0 ? Math.ceil(files / 10) : chosen.tasks;
const limit = chosen['writes-per-second'];

const sink = await Sink.start();
const daemon = await Daemon.start({
  store: sink.access,
  bucket,
  config: {
    store: { maxConnections: concurrency },
    limits: { completeConcurrency: concurrency, recordConcurrency: concurrency },
  },
});
const client = new DaemonClient(daemon.endpoint);
try {
  say(`Preparing ${files} files in ${tasks} tasks, at a store without latency …`);
  const destination = `s3a://${bucket}/scale/table`;
  const job = await prepareJob(client, { token: 'scale', destination, files, tasks });
  const rssBefore = rssMb(daemon.pid, 'now');
  say('Committing, at a store with limits …');
  await sink.set({
    latency_ms: chosen['latency-ms'],
    sigma: chosen.sigma,
    writes_per_second: limit,
    reads_per_second: chosen['reads-per-second'],
  });
  await sink.forgetCounts();
  const cpu = cpuSeconds(daemon.pid);
  const started = performance.now();
  const committed = client.commitJob({ job });
  const completing = secondsOfCompletes(committed);
  const failed = await committed.then(
    ({ files: published }) => (Number(published) === files ? 0 : 1),
    (error: unknown) => {
      say(String(error));
      return 1;
    },
  );
  const seconds = (performance.now() - started) / 1_000;
  const cpuUsed = cpuSeconds(daemon.pid) - cpu;
  const state = await sink.state();
  const secondsOfAll = await completing;
  /** Of a job that failed nothing can be said. */
  const share = failed > 0 ? 0 : files / secondsOfAll / limit;
  report(
    chosen.json,
    [
      ['files', 'tasks', 'seconds', 'share of the limit', '503s', 'CPU µs a file', 'RSS MB before', 'peak'],
      [
        ...[String(files), String(tasks), seconds.toFixed(1), `${(share * 100).toFixed(1)} %`],
        ...[String(state.slowed), String(Math.round((cpuUsed / files) * 1e6))],
        ...[String(rssBefore), String(rssMb(daemon.pid, 'peak'))],
      ],
    ],
    {
      files,
      tasks,
      share_of_limit: rounded(share, 3),
      rss_mb: rssMb(daemon.pid, 'peak'),
      rss_before_mb: rssBefore,
      failed,
      seconds: rounded(seconds, 1),
      slowed: state.slowed,
      cpu_us_per_file: Math.round((cpuUsed / files) * 1e6),
    },
  );
  if (failed > 0) process.exitCode = 1;
} finally {
  client.close();
  await daemon.stop();
  await sink.stop();
}

/** From the first Complete to the last: reading the records before is bound by another limit. */
async function secondsOfCompletes(until: Promise<unknown>): Promise<number> {
  const everyMs = 100;
  const end = until.then(
    () => true,
    () => true,
  );
  let first: number | undefined;
  let last = performance.now();
  let before = 0;
  for (let isOver = false; !isOver;) {
    isOver = await Promise.race([
      end,
      new Promise<false>((resolve) => setTimeout(() => resolve(false), everyMs)),
    ]);
    const { counts } = await sink.state();
    const now = counts.complete ?? 0;
    if (now > before) {
      first ??= performance.now() - everyMs;
      last = performance.now();
    }
    before = now;
  }
  return (last - (first ?? last)) / 1_000;
}
