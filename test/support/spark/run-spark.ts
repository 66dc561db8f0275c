import { execFile } from 'node:child_process';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ManagedChild, missingTool, type S3Access } from '../servers/index.js';
import { jvmOptions, makeSparkHome, type SparkHome } from './spark-home.js';
import { buildSparkJobs, defaultSpark, installOssJars, type SparkVersion } from './spark-jars.js';
import type { SparkStep, StepResult } from './spark-job.js';

export interface SparkOptions {
  steps: SparkStep[];
  /** The server (or the observer in front of it) behind `s3a://`. */
  s3?: S3Access;
  /** And the one behind `oss://`, by hadoop-aliyun. */
  oss?: S3Access;
  /** Several JVMs by default: a driver and two executors. */
  master?: string;
  /** Spark's configuration, over the defaults. */
  conf?: Record<string, string>;
  /** Commitbridge's jar; without it the job is stock Spark alone. */
  bundleJar?: string;
  /** Others for driver and executors. */
  jars?: string[];
  version?: SparkVersion;
  /** Of the driver's JVM alone. */
  driverOptions?: string[];
  /** Which of Spark's own jars executors have, by name; all without it. The driver has all. */
  executorJars?: (name: string) => boolean;
  /** After `steps` the application goes on with those that `SparkRun.step` gives it, until `SparkRun.finishSteps`. */
  follow?: boolean;
}

export interface SparkResult {
  /** Null when it was killed. */
  exitCode: number | null;
  steps: StepResult[];
  /** The tail of the driver's log. */
  log: string;
  /** The tail of each executor's log, where there are executors. */
  executorLogs: string[];
}

/** A Spark application that runs. */
export class SparkRun {
  /** When driver and executors are gone. Doesn't reject for a job that fails. */
  readonly result: Promise<SparkResult>;
  private readonly results: StepResult[] = [];
  private readonly waiting = new Map<number, (result: StepResult) => void>();
  private stepsGiven = 0;

  private constructor(
    private readonly driver: ManagedChild,
    private readonly home: string,
  ) {
    let rest = '';
    driver.process.stdout?.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines)
        if (line.startsWith('{"event":"step"')) this.take(JSON.parse(line) as StepResult);
    });
    this.result = this.finish();
  }

  static async start(options: SparkOptions): Promise<SparkRun> {
    const version = options.version ?? defaultSpark;
    const jobsJar = await buildSparkJobs(version, options.bundleJar);
    const bundle = options.bundleJar === undefined ? [] : [options.bundleJar];
    const oss = options.oss === undefined ? [] : await jarsIn(await installOssJars(version));
    const added = [jobsJar, ...bundle, ...oss, ...(options.jars ?? [])];
    const home = await makeSparkHome(version, options.executorJars);
    const jobFile = join(home.directory, 'job.json');
    const conf = { ...sparkConf(options, home, added), ...options.conf };
    const follow = options.follow === true ? { follow: home.directory } : {};
    await writeFile(jobFile, JSON.stringify({ conf, steps: options.steps, ...follow }), { mode: 0o600 });
    const classPath = [...added, join(home.jars, '*')].join(delimiter);
    const main = ['-cp', classPath, 'io.commitbridge.it.SparkJob', jobFile];
    const jvm = ['-Xmx768m', ...jvmOptions, ...home.processOptions, ...(options.driverOptions ?? [])];
    const driver = await ManagedChild.start('java', [...jvm, ...main], {
      cwd: home.directory,
      env: { ...home.env, SPARK_LOCAL_IP: '127.0.0.1' },
      onMissing: () => missingTool('java', 'Spark'),
    });
    return new SparkRun(driver, home.directory);
  }

  /** Gives a following application its next step; steps run at the same time. Rejects when it ends before. */
  async step(step: SparkStep): Promise<StepResult> {
    const number = this.stepsGiven++;
    const done = new Promise<StepResult>((resolve) => this.waiting.set(number, resolve));
    await this.give(number, step);
    const ended = this.result.then(({ exitCode, log }) => {
      throw new Error(`Spark ended (exit code ${exitCode ?? 'none'}) before step ${number} did:\n${log}`);
    });
    return Promise.race([done, ended]);
  }

  /** Lets a following application end once all its steps have. */
  async finishSteps(): Promise<SparkResult> {
    await this.give(this.stepsGiven++, { do: 'stop' });
    return this.result;
  }

  /** The tail of the driver's log so far. */
  get log(): string {
    return this.driver.output;
  }

  private async give(number: number, step: object): Promise<void> {
    const file = join(this.home, `${number}.json`);
    await writeFile(`${file}.new`, JSON.stringify(step), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  private take(result: StepResult): void {
    this.results.push(result);
    this.waiting.get(result.step)?.(result);
  }

  get pid(): number {
    return this.driver.pid;
  }

  /** The process ids of the executors that run now. */
  async executorPids(): Promise<number[]> {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,pgid=,args='], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(
        ([, group, ...args]) => Number(group) === this.pid && args.join(' ').includes('ExecutorBackend'),
      )
      .map(([pid]) => Number(pid));
  }

  /** SIGKILL to the driver and its executors at the same instant. */
  kill(): void {
    this.driver.kill();
  }

  /** SIGKILL to one process of it. */
  killExecutor(pid: number): void {
    process.kill(pid, 'SIGKILL');
  }

  private async finish(): Promise<SparkResult> {
    const { code } = await this.driver.exited;
    while ((await this.executorPids()).length > 0) await sleep(50); // killed with the driver, but not yet gone
    const steps = this.results;
    const executorLogs = await this.readExecutorLogs();
    await rm(this.home, { recursive: true, force: true });
    return { exitCode: code, steps, log: this.driver.output, executorLogs };
  }

  private async readExecutorLogs(): Promise<string[]> {
    const work = join(this.home, 'work');
    const names = await readdir(work, { recursive: true }).catch(() => []);
    const logs = names.filter((name) => name.endsWith('stderr')).sort();
    return Promise.all(logs.map(async (name) => (await readFile(join(work, name), 'utf8')).slice(-20_000)));
  }
}

/** Runs an application to its end. */
export async function runSpark(options: SparkOptions): Promise<SparkResult> {
  const run = await SparkRun.start(options);
  return run.result;
}

async function jarsIn(directory: string): Promise<string[]> {
  return (await readdir(directory)).map((name) => join(directory, name));
}

function sparkConf(options: SparkOptions, home: SparkHome, added: string[]): Record<string, string> {
  return {
    'spark.master': options.master ?? 'local-cluster[2,1,1024]',
    'spark.jars': added.join(','),
    'spark.driver.host': '127.0.0.1',
    'spark.driver.bindAddress': '127.0.0.1',
    'spark.ui.enabled': 'false',
    'spark.local.dir': home.tmp,
    'spark.hadoop.hadoop.tmp.dir': home.tmp,
    'spark.sql.warehouse.dir': join(home.directory, 'warehouse'),
    'spark.sql.shuffle.partitions': '2',
    'spark.executor.extraJavaOptions': home.processOptions.join(' '),
    'spark.executorEnv.SPARK_LOCAL_IP': '127.0.0.1',
    ...(options.s3 === undefined ? {} : s3aConf(options.s3)),
    ...(options.oss === undefined ? {} : ossConf(options.oss, home)),
  };
}

/** How Spark's s3a reaches a server. */
export function s3aConf(s3: S3Access): Record<string, string> {
  return {
    'spark.hadoop.fs.s3a.endpoint': s3.endpoint,
    'spark.hadoop.fs.s3a.endpoint.region': s3.region,
    'spark.hadoop.fs.s3a.path.style.access': 'true',
    'spark.hadoop.fs.s3a.connection.ssl.enabled': 'false',
    'spark.hadoop.fs.s3a.access.key': s3.accessKey,
    'spark.hadoop.fs.s3a.secret.key': s3.secretKey,
    'spark.hadoop.fs.s3a.aws.credentials.provider': 'org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider',
  };
}

function ossConf(oss: S3Access, home: SparkHome): Record<string, string> {
  const { protocol, host } = new URL(oss.endpoint);
  return {
    'spark.hadoop.fs.oss.impl': 'org.apache.hadoop.fs.aliyun.oss.AliyunOSSFileSystem',
    'spark.hadoop.fs.oss.endpoint': host,
    'spark.hadoop.fs.oss.connection.secure.enabled': String(protocol === 'https:'),
    'spark.hadoop.fs.oss.accessKeyId': oss.accessKey,
    'spark.hadoop.fs.oss.accessKeySecret': oss.secretKey,
    'spark.hadoop.fs.oss.buffer.dir': home.tmp,
  };
}
