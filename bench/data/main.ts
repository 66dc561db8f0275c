import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Daemon } from '../../scripts/lib/daemon.js';
import { runTool } from '../../test/support/servers/run-tool.js';
import { s3aConf } from '../../test/support/spark/index.js';
import { dataPlane } from '../lib/java-programs.js';
import { options } from '../lib/options.js';
import { cpuSeconds } from '../lib/process-usage.js';
import { median, report, rounded, say } from '../lib/report.js';
import { Sink } from '../lib/sink.js';
import { runExecutor } from './executor.js';
import { peers, planes, type Plane } from './planes.js';

interface Run {
  readonly executor: number;
  readonly daemon: number;
  readonly seconds: number;
}

const bucket = 'bench';
const mebibyte = 1024 * 1024;
const gigabyte = 1e9;
/** Small files of a task: 1 MiB in all, which is what it may send inline. */
const smallBytes = 16 * 1024;
const smallFiles = mebibyte / smallBytes;
/** Longer than the interval of the ledger. */
const quietMs = 1_500;
const password = 'changeit';

const chosen = options({
  mib: 1024,
  'file-mib': 128,
  'small-mib': 64,
  writers: 2,
  rounds: 3,
  'latency-ms': 0,
  planes: Object.keys(planes).join(','),
});
const names = chosen.planes.split(',').map((name) => name.trim());
const home = await mkdtemp(join(tmpdir(), 'commitbridge-bench-data-'));
const certificate = join(home, 'store.pem');
const trustStore = join(home, 'trust.p12');
const sink = await Sink.start(certificate);
process.env['NODE_EXTRA_CA_CERTS'] = certificate; // of the daemons
const start = (store: Sink['access']): Promise<Daemon> =>
  Daemon.start({ store, bucket, config: { health: { interval: '1h' } } });
const daemons = { http: await start(sink.access), https: await start(sink.secureAccess) };
try {
  const program = await dataPlane();
  await trust();
  await sink.set({ latency_ms: chosen['latency-ms'] });
  const runs = new Map<string, Run[]>(names.map((name) => [name, []]));
  for (let round = 0; round < chosen.rounds; round++)
    for (const name of names) {
      const run = await write(program, name, round);
      runs.get(name)?.push(run);
      say(`round ${round + 1} of ${chosen.rounds}: ${name} ${run.seconds.toFixed(1)} s`);
    }
  conclude(runs);
} finally {
  await daemons.http.stop();
  await daemons.https.stop();
  await sink.stop();
  await rm(home, { recursive: true, force: true });
}

async function trust(): Promise<void> {
  await runTool(
    'keytool',
    ['-importcert', '-noprompt', '-file', certificate, '-keystore', trustStore, '-storepass', password],
    { purpose: 'the benchmark' },
  );
}

function plane(name: string): Plane {
  const found = planes[name];
  if (found === undefined)
    throw new Error(`--planes takes ${Object.keys(planes).join(', ')}, not '${name}'.`);
  return found;
}

/** Bytes that a run writes. */
function bytesOf({ small }: Plane): number {
  return (small ? chosen['small-mib'] : chosen.mib) * mebibyte;
}

async function write(program: readonly string[], name: string, round: number): Promise<Run> {
  const chosenPlane = plane(name);
  const { writer, scheme, small, settings } = chosenPlane;
  const fileBytes = small ? smallBytes : chosen['file-mib'] * mebibyte;
  const filesOfTask = small ? smallFiles : 1;
  const tasks = bytesOf(chosenPlane) / (fileBytes * filesOfTask);
  if (!Number.isInteger(tasks)) throw new Error('--mib takes a multiple of --file-mib.');
  const daemon = daemons[scheme];
  const hadoop = {
    ...Object.fromEntries(
      Object.entries(s3aConf(scheme === 'http' ? sink.access : sink.secureAccess)).map(
        ([key, value]) => [key.replace('spark.hadoop.', ''), value] as const,
      ),
    ),
    'hadoop.tmp.dir': home,
    'commitbridge.endpoints': daemon.endpoint,
    ...settings,
  };
  const directory = `s3a://${bucket}/${name}-${round}`;
  const counts = [fileBytes, filesOfTask, tasks, chosen.writers].map(String);
  let cpu = NaN;
  const { seconds, cpuSeconds: executor } = await runExecutor(
    [
      ...[`-Djavax.net.ssl.trustStore=${trustStore}`, `-Djavax.net.ssl.trustStorePassword=${password}`],
      ...[...program, writer, directory, ...counts],
      ...Object.entries(hadoop).map(([key, value]) => `${key}=${value}`),
    ],
    () => (cpu = cpuSeconds(daemon.pid)),
  );
  await sink.quiet(quietMs); // what the daemon does afterwards is part of it
  const used = writer === 's3a' ? 0 : cpuSeconds(daemon.pid) - cpu;
  await requireBytes(`${name}-${round}/measured/`, bytesOf(chosenPlane));
  return { executor, daemon: used, seconds };
}

async function requireBytes(prefix: string, bytes: number): Promise<void> {
  const parts = (await sink.objects(bucket, prefix)).filter(({ key }) => key.includes('/part-'));
  const stored = parts.reduce((sum, object) => sum + object.bytes, 0);
  if (stored !== bytes) throw new Error(`${prefix} has ${stored} bytes of ${bytes}.`);
}

function conclude(runs: ReadonlyMap<string, readonly Run[]>): void {
  const results = new Map(
    [...runs].map(([name, list]) => {
      const gigabytes = bytesOf(plane(name)) / gigabyte;
      const of = (value: (run: Run) => number): number => median(list.map(value));
      return [
        name,
        {
          cpu_s_per_gb: rounded(of(({ executor, daemon }) => executor + daemon) / gigabytes, 3),
          executor_cpu_s_per_gb: rounded(of(({ executor }) => executor) / gigabytes, 3),
          daemon_cpu_s_per_gb: rounded(of(({ daemon }) => daemon) / gigabytes, 3),
          mb_per_s: rounded((gigabytes * 1_000) / of(({ seconds }) => seconds), 1),
        },
      ] as const;
    }),
  );
  const cpuOf = (name: string | undefined): number => results.get(name ?? '')?.cpu_s_per_gb ?? NaN;
  const ratio = (name: string): number | null => {
    const found = cpuOf(name) / cpuOf(peers[name]);
    return Number.isNaN(found) ? null : rounded(found, 3);
  };
  const ours = [...results].filter(([name]) => plane(name).writer === 'commitbridge');
  const theirs = [...results].filter(([name]) => plane(name).writer === 's3a');
  say(
    `${chosen.mib} MiB in files of ${chosen['file-mib']} MiB; ${chosen['small-mib']} MiB in files of ${smallBytes} bytes; ${chosen.writers} at a time, ${chosen['latency-ms']} ms a request; median of ${chosen.rounds}; a GB is 10^9 bytes`,
  );
  for (const name of names)
    say(
      `${name}: ${Object.entries(plane(name).settings)
        .map(([key, value]) => `${key}=${value}`)
        .join(' ')}`,
    );
  report(
    chosen.json,
    [
      ['', 'CPU s a GB', 'of the executor', 'of the daemon', 'MB/s', '÷ S3A'],
      ...[...results].map(([name, row]) => [
        name,
        row.cpu_s_per_gb.toFixed(2),
        row.executor_cpu_s_per_gb.toFixed(2),
        row.daemon_cpu_s_per_gb.toFixed(2),
        String(Math.round(row.mb_per_s)),
        ratio(name)?.toFixed(2) ?? '',
      ]),
    ],
    {
      planes: Object.fromEntries(ours.map(([name, row]) => [name, { ...row, vs_s3a: ratio(name) }])),
      s3a: Object.fromEntries(
        theirs.map(([name, row]) => [name, { ...row, settings: plane(name).settings }]),
      ),
      s3a_cpu_s_per_gb: cpuOf('s3a'),
      s3a_https_cpu_s_per_gb: cpuOf('s3a_https'),
      direct_vs_s3a: ratio('direct'),
      direct_https_vs_s3a: ratio('direct_https'),
    },
  );
}
