import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, ManagedChild, missingTool } from '../servers/index.js';
import { defaultSpark, type SparkVersion } from './spark-jars.js';
import { jvmOptions, makeSparkHome, type SparkHome } from './spark-home.js';

const startTimeoutMs = 120_000;

export interface StandaloneOptions {
  version?: SparkVersion;
  /** One worker on each. Speculation never puts two attempts of a task on one host. */
  hosts: string[];
  /** Of each worker; an application gets one executor on each. */
  cores: number;
}

/** Spark's own cluster manager: a master and workers, each a process, on loopback addresses. */
export class StandaloneCluster {
  private constructor(
    private readonly home: SparkHome,
    /** For `spark.master`. */
    readonly master: string,
    private readonly children: ManagedChild[],
  ) {}

  static async start({
    version = defaultSpark,
    hosts,
    cores,
  }: StandaloneOptions): Promise<StandaloneCluster> {
    const home = await makeSparkHome(version);
    const [port, webPort] = [await freePort(), await freePort()];
    const master = `spark://127.0.0.1:${port}`;
    const cluster = new StandaloneCluster(home, master, []);
    try {
      await cluster.launch('127.0.0.1', 'master.Master', ['--port', `${port}`, '--webui-port', `${webPort}`]);
      for (const host of hosts) {
        const size = ['--cores', `${cores}`, '--memory', '2g', '--webui-port', '0'];
        const work = ['--work-dir', join(home.directory, `work-${host}`)];
        await cluster.launch(host, 'worker.Worker', [...size, ...work, master]);
      }
      await cluster.ready(`http://127.0.0.1:${webPort}/json/`, hosts.length);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    for (const child of this.children) child.kill();
    await Promise.all(this.children.map(async (child) => child.exited));
    await rm(this.home.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  private async launch(host: string, role: string, args: string[]): Promise<void> {
    const { home } = this;
    const main = ['-cp', join(home.jars, '*'), `org.apache.spark.deploy.${role}`, '--host', host, ...args];
    const child = await ManagedChild.start(
      'java',
      ['-Xmx256m', ...jvmOptions, ...home.processOptions, ...main],
      {
        cwd: home.directory,
        env: { ...home.env, SPARK_LOCAL_IP: host },
        onMissing: () => missingTool('java', 'Spark'),
      },
    );
    this.children.push(child);
  }

  /** Workers try again until there is a master. */
  private async ready(status: string, workers: number): Promise<void> {
    const deadline = Date.now() + startTimeoutMs;
    for (;;) {
      const dead = this.children.find(({ running }) => !running);
      if (dead !== undefined) throw new Error(`A process of the Spark cluster ended:\n${dead.output}`);
      const alive = await fetch(status).then(
        // A page of another kind until it is up.
        (answer) =>
          answer.json().then(
            (state) => (state as { aliveworkers: number }).aliveworkers,
            () => 0,
          ),
        () => 0,
      );
      if (alive === workers) return;
      if (Date.now() > deadline)
        throw new Error(
          `${alive} of ${workers} workers came to the master:\n${this.children.map(({ output }) => output).join('\n')}`,
        );
      await sleep(100);
    }
  }
}
