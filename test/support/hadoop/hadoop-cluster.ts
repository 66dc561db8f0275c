import { copyFile, readdir, readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repoRoot, type ManagedChild } from '../servers/index.js';
import { runningContainers, type Container } from './containers.js';
import { smallJvm, type Gateway } from './gateway.js';

const startTimeoutMs = 240_000;
const log4j = join(repoRoot, 'test/support/hadoop/cluster-log4j.properties');

/** HDFS and YARN with two NodeManagers in a JVM; application masters and tasks are real processes beside it. */
export class HadoopCluster {
  private constructor(
    private readonly gateway: Gateway,
    private readonly child: ManagedChild,
    /** The port of each NodeManager, as its containers know it. */
    readonly nodes: readonly number[],
  ) {}

  /**
   * Starts a cluster in the gateway's home and makes the gateway's configuration name it. Its containers have the class
   * path of a node and what comes with the job: nothing of the gateway's own, neither its configuration nor its jars.
   */
  static async start(gateway: Gateway): Promise<HadoopCluster> {
    const options = [
      '-Xmx768m',
      ...smallJvm,
      `-Dlog4j.configuration=file:${log4j}`,
      '-cp',
      gateway.clusterClassPath,
    ];
    const main = ['io.commitbridge.it.mapreduce.HadoopCluster', gateway.nodeClassPath];
    const child = await gateway.java([...options, ...main]);
    for (const deadline = Date.now() + startTimeoutMs; ;) {
      const started = /\{"event":"started","nodes":\[([\d,]+)\]\}/.exec(child.output)?.[1];
      if (started !== undefined) {
        for (const file of ['core-site.xml', 'yarn-site.xml']) {
          await copyFile(join(gateway.home, 'cluster', file), join(gateway.confDir, file));
        }
        return new HadoopCluster(gateway, child, started.split(',').map(Number));
      }
      if (!child.running || Date.now() > deadline) {
        child.kill();
        throw new Error(`The cluster ${child.running ? 'did not start' : 'ended'}:\n${child.output}`);
      }
      await sleep(100);
    }
  }

  /** The tail of the log of HDFS and YARN. */
  get log(): string {
    return this.child.output;
  }

  /** The containers of a job, or of all, that run now. */
  async containers(job?: string): Promise<Container[]> {
    const all = await runningContainers(this.gateway.home);
    return job === undefined ? all : all.filter((container) => container.job === job);
  }

  /** SIGKILL to the application master of a job; resolves when it is gone. */
  async killApplicationMaster(job: string): Promise<Container> {
    const master = (await this.containers(job)).find(({ task }) => task === undefined);
    if (master === undefined) throw new Error(`${job} has no application master now`);
    await kill(master);
    return master;
  }

  /** SIGKILL to a task attempt. */
  async killTask(attempt: string): Promise<void> {
    const found = (await this.containers()).find(({ task }) => task === attempt);
    if (found === undefined) throw new Error(`${attempt} doesn't run now`);
    await kill(found);
  }

  /** Resolves when no container of the job runs any more, so that no hook of a JVM is still to come. */
  async untilGone(job: string): Promise<void> {
    while ((await this.containers(job)).length > 0) await sleep(100);
  }

  /**
   * How many tasks of the output have ended well, as the history of an application master says that its successor
   * would read: what isn't flushed isn't there.
   */
  async tasksInHistory(job: string, applicationAttempt = 1): Promise<number> {
    const conf = await readFile(join(this.gateway.confDir, 'core-site.xml'), 'utf8');
    const value = (name: string): string =>
      new RegExp(`<name>${name}</name><value>([^<]*)`).exec(conf)?.[1] ?? '';
    const staging = `${value('yarn.app.mapreduce.am.staging-dir')}/${userInfo().username}/.staging`;
    const file = `${staging}/${job}/${job}_${applicationAttempt}.jhist`;
    const answer = await fetch(`http://${value('dfs.namenode.http-address')}/webhdfs/v1${file}?op=OPEN`);
    return [...(await answer.text()).matchAll(/"type":"TASK_FINISHED"/g)].length;
  }

  /** What the application masters of a job wrote, in the order of their attempts. */
  async applicationMasterLogs(job: string): Promise<string[]> {
    const directories = await this.logDirectories(job, '000001');
    const texts = await Promise.all(directories.map((directory) => readOrEmpty(join(directory, 'syslog'))));
    return texts.filter((text) => text !== ''); // a container has a directory on each of the node's disks
  }

  /** What every container of a job wrote, with its names in front. */
  async logs(job: string): Promise<string> {
    const directories = await this.logDirectories(job, '');
    const texts = directories.map(async (directory) => {
      const files = await readdir(directory).catch(() => []);
      const read = files.map(async (file) => `--- ${file}\n${await readOrEmpty(join(directory, file))}`);
      return `=== ${directory}\n${(await Promise.all(read)).join('')}`;
    });
    return (await Promise.all(texts)).join('\n');
  }

  private async logDirectories(job: string, suffix: string): Promise<string[]> {
    const application = job.replace('job_', 'application_');
    const work = join(this.gateway.home, 'target/test/data/mr');
    const below = await readdir(work, { withFileTypes: true });
    const levels = [
      work,
      ...below.filter((entry) => entry.isDirectory()).map(({ name }) => join(work, name)),
    ];
    const names = await Promise.all(
      levels.map(async (level) => (await readdir(level)).map((name) => join(level, name))),
    );
    const found = await Promise.all(
      names
        .flat()
        .filter(isLogDirectory)
        .map(async (logs) => {
          const directory = join(logs, application);
          const names = await readdir(directory).catch(() => []);
          return names.filter((container) => container.endsWith(suffix)).map((c) => join(directory, c));
        }),
    );
    return found.flat().sort((a, b) => (containerName(a) < containerName(b) ? -1 : 1));
  }

  /** Ends the cluster and all its containers. */
  async stop(): Promise<void> {
    await this.child.stop(20_000);
    for (const container of await this.containers()) await kill(container);
  }
}

/** There is one a NodeManager. */
function isLogDirectory(path: string): boolean {
  return path.includes('-logDir-');
}

function containerName(directory: string): string {
  return directory.slice(directory.lastIndexOf('/') + 1);
}

async function kill({ pid }: Container): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw error;
    }
    await sleep(10);
  }
}

async function readOrEmpty(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
