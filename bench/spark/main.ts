import { requestKinds, type RequestCounts } from '../../test/support/observer/index.js';
import { benchSpark } from '../lib/bench-spark.js';
import { options } from '../lib/options.js';
import { dollars, priceSource } from '../lib/prices.js';
import { median, report, rounded, say } from '../lib/report.js';
import { Application, type Run } from './application.js';
import { committers, defaultCommitters, s3aSettings, type Committer } from './committers.js';
import { tasksOf } from './job.js';

const chosen = options({
  files: 200,
  committers: defaultCommitters.join(','),
  rounds: 1,
  'latency-ms': 30,
  'file-mib': 0,
  partitions: 0,
  cores: 8,
});
const { files, rounds, cores, partitions } = chosen;
const latencyMs = chosen['latency-ms'];
const job = { files, partitions, fileMib: chosen['file-mib'] };
const tasks = tasksOf(job);
const named = chosen.committers.split(',').map((name) => name.trim());
/** Ours first: whoever comes later finds code that is compiled better. */
const names = [true, false].flatMap((ours) => named.filter((name) => committer(name).ours === ours));
const warmUp = { files: 64, partitions: 0, fileMib: 0 };
/** A share of the sink's ceiling above which the sink is what is measured. */
const ceilingShare = 0.8;

const application = await Application.start(cores);
try {
  const ceiling = await application.sink.ceiling(64);
  say(
    `Spark ${benchSpark.spark}, Hadoop ${benchSpark.hadoop}; classes are loaded and compiled by a small write each`,
  );
  for (const name of names) await application.write(committer(name), warmUp, `warm-up/${name}`, 0);
  const runs = new Map<string, Run[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    // Who comes first changes from round to round.
    const order = names.map((_, i) => names[(i + round) % names.length] ?? '');
    for (const name of order) {
      const run = await application.write(committer(name), job, `round-${round}/${name}`, latencyMs);
      runs.get(name)?.push(run);
      say(`round ${round + 1} of ${rounds}: ${name} ${run.wall.toFixed(1)} s`);
    }
  }
  conclude(runs, ceiling);
} finally {
  await application.stop();
}

function committer(name: string): Committer {
  const found = committers[name];
  if (found === undefined)
    throw new Error(`--committers takes ${Object.keys(committers).join(', ')}, not '${name}'.`);
  return found;
}

function conclude(runs: ReadonlyMap<string, readonly Run[]>, ceiling: number): void {
  const results = [...runs].map(([name, list]) => ({ name, ...committer(name), ...summary(list, ceiling) }));
  const byWall = [...results].sort((a, b) => a.wall_s - b.wall_s);
  const bestPeer = byWall.find(({ ours }) => !ours);
  const bestOurs = byWall.find(({ ours }) => ours);
  const ratio = (wall: number | undefined): number | null =>
    wall === undefined || bestPeer === undefined ? null : rounded(wall / bestPeer.wall_s, 3);
  for (const { name, settings, why } of results)
    say(
      `${name}: ${why}${Object.entries(settings)
        .map(([key, value]) => `\n    ${key}=${value}`)
        .join('')}`,
    );
  say(
    `all: ${Object.entries(s3aSettings)
      .map(([key, value]) => `${key}=${value}`)
      .join(' ')}`,
  );
  say(`prices: ${priceSource}`);
  say(
    `${files} files${job.fileMib > 0 ? ` of ${job.fileMib} MiB` : ''}${partitions > 0 ? ` over ${partitions} partitions` : ''} in ${tasks} tasks, ${cores} at a time, ${latencyMs} ms a request; median of ${rounds}`,
  );
  const kinds = requestKinds.filter((kind) => results.some(({ requests }) => requests[kind] !== undefined));
  report(
    chosen.json,
    [
      [
        '',
        'wall s',
        '÷ best peer',
        'tasks s',
        'job commit s',
        'CPU s',
        'requests a file',
        '$ for 1,000 files',
        ...kinds,
      ],
      ...results.map((row) => [
        row.name,
        row.wall_s.toFixed(2),
        ratio(row.wall_s)?.toFixed(2) ?? '',
        row.task_s.toFixed(2),
        row.job_commit_s.toFixed(2),
        row.cpu_s.toFixed(1),
        row.requests_per_file.toFixed(2),
        row.dollars_per_1000_files.toFixed(4),
        ...kinds.map((kind) => String(row.requests[kind] ?? 0)),
      ]),
    ],
    {
      ...{ files, tasks, file_mib: job.fileMib, partitions, latency_ms: latencyMs, cores, rounds },
      ...{ spark: benchSpark.spark, hadoop: benchSpark.hadoop, prices: priceSource },
      committers: Object.fromEntries(
        results.map(({ name, ours, settings, why, ...figures }) => [
          name,
          {
            settings: { ...s3aSettings, ...settings },
            why,
            ...figures,
            wall_vs_best_peer: ratio(figures.wall_s),
          },
        ]),
      ),
      best_peer: bestPeer?.name ?? null,
      best_ours: bestOurs?.name ?? null,
      wall_vs_best_peer: ratio(bestOurs?.wall_s),
      sink_requests_per_s: Math.round(ceiling),
      counts: results.every(({ sink_share }) => sink_share <= ceilingShare),
    },
  );
}

function summary(list: readonly Run[], ceiling: number) {
  const of = (value: (run: Run) => number): number => rounded(median(list.map(value)), 3);
  const requests: RequestCounts = {};
  for (const kind of requestKinds) {
    const count = median(list.map((run) => run.requests[kind] ?? 0));
    if (count > 0) requests[kind] = count;
  }
  const all = Object.values(requests).reduce((sum, count) => sum + count, 0);
  const wall = of((run) => run.wall);
  return {
    requests,
    requests_per_file: rounded(all / files, 3),
    dollars_per_1000_files: rounded((dollars(requests) / files) * 1_000, 5),
    setup_s: of((run) => run.setup),
    task_s: of((run) => run.tasks),
    job_commit_s: of((run) => run.commit),
    wall_s: wall,
    cpu_s: of((run) => run.cpu),
    sink_share: rounded(all / wall / ceiling, 3),
  };
}
