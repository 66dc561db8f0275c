import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleJar } from '../../scripts/lib/bundle-jar.js';
import { Daemon } from '../../scripts/lib/daemon.js';
import type { RequestCounts } from '../../test/support/observer/index.js';
import { installHadoopCloudJar, SparkRun } from '../../test/support/spark/index.js';
import { benchSpark } from '../lib/bench-spark.js';
import { cpuSeconds } from '../lib/process-usage.js';
import { Sink } from '../lib/sink.js';
import { s3aSettings, type Committer } from './committers.js';
import { writeOf, type JobOptions } from './job.js';

export interface Run {
  readonly setup: number;
  readonly tasks: number;
  readonly commit: number;
  readonly wall: number;
  /** Of Spark's JVM and the daemon. */
  readonly cpu: number;
  /** Background cleanup included. */
  readonly requests: RequestCounts;
}

const bucket = 'bench';
/** Longer than the interval of the ledger. */
const quietMs = 1_500;
const cleanupTimeoutMs = 60_000;
const removedAtTheEnd = /\/(tasks|opened|files)\//;

/** One Spark application with all committers on its class path, a daemon and the sink. */
export class Application {
  private constructor(
    private readonly home: string,
    readonly sink: Sink,
    private readonly daemon: Daemon,
    private readonly spark: SparkRun,
  ) {}

  static async start(cores: number): Promise<Application> {
    const home = await mkdtemp(join(tmpdir(), 'commitbridge-bench-spark-'));
    const sink = await Sink.start();
    const daemon = await Daemon.start({
      store: sink.access,
      bucket,
      // It asks the store nothing of its own accord while others are measured.
      config: { health: { interval: '1h' }, upload: { inlineLimit: '1MiB' } },
    });
    const hadoop = { ...s3aSettings, 'fs.s3a.committer.staging.tmp.path': `file://${home}/staging` };
    const spark = await SparkRun.start({
      ...{ steps: [], follow: true, s3: sink.access, bundleJar, version: benchSpark },
      master: `local[${cores}]`,
      driverOptions: ['-Xmx4g'],
      jars: [await installHadoopCloudJar(benchSpark)],
      conf: Object.fromEntries(
        Object.entries(hadoop).map(([key, value]) => [`spark.hadoop.${key}`, value] as const),
      ),
    });
    return new Application(home, sink, daemon, spark);
  }

  /** Runs one job and waits until the store has had the last request of it. */
  async write(committer: Committer, job: JobOptions, directory: string, latencyMs: number): Promise<Run> {
    await this.sink.quiet(quietMs);
    await this.sink.set({ latency_ms: latencyMs });
    await this.sink.forgetCounts();
    const cpu = this.cpu();
    const result = await this.spark.step({
      ...writeOf(job, `s3a://${bucket}/${directory}`),
      conf: {
        ...committer.settings,
        ...(committer.ours ? { 'commitbridge.endpoints': this.daemon.endpoint } : {}),
      },
    });
    if (!result.ok) throw new Error(`Spark's job failed: ${result.error ?? ''}`);
    const used = this.cpu() - cpu;
    await this.cleanedUp();
    await this.requireFiles(directory, job.files);
    const { setup_s: setup = NaN, tasks_s: tasks = NaN, commit_s: commit = NaN, wall_s: wall = NaN } = result;
    return { setup, tasks, commit, wall, cpu: used, requests: (await this.sink.state()).counts };
  }

  async stop(): Promise<void> {
    this.spark.kill();
    await this.spark.result;
    await this.daemon.stop();
    await this.sink.stop();
    await rm(this.home, { recursive: true, force: true });
  }

  private cpu(): number {
    return cpuSeconds(this.spark.pid) + cpuSeconds(this.daemon.pid);
  }

  private async cleanedUp(): Promise<void> {
    const deadline = Date.now() + cleanupTimeoutMs;
    while (Date.now() < deadline) {
      await this.sink.quiet(quietMs);
      const left = await this.sink.objects(bucket, '.commitbridge/');
      if (!left.some(({ key }) => removedAtTheEnd.test(key))) return;
    }
    throw new Error('The daemon has not removed the records of a job that ended.');
  }

  private async requireFiles(directory: string, files: number): Promise<void> {
    const objects = await this.sink.objects(bucket, `${directory}/`);
    const parts = objects.filter(({ key }) => key.endsWith('.parquet'));
    if (parts.length !== files || objects.some(({ key }) => /__magic|_temporary\/./.test(key)))
      throw new Error(
        `${directory} has ${parts.length} files of ${files}, or something was left beside them.`,
      );
  }
}
