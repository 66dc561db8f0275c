import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { freePort, ManagedChild, repoRoot, type S3Access } from '../../support/servers/index.js';

const startTimeoutMs = 30_000;
const main = join(repoRoot, 'dist/main.js');
const env = { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' };

export interface DaemonOptions {
  /** The store, as the daemon and the executors reach it. */
  store: S3Access;
  /** What jobs may write below. */
  root: string;
  /** Beside it. */
  moreRoots?: string[];
}

export interface CommandResult {
  code: number | null;
  output: string;
}

/** `commitbridge serve`, built, in a process that a test kills with SIGKILL and starts again on the same port. */
export class KillableDaemon {
  /** How often it was killed. */
  kills = 0;
  private readonly pastLogs: string[] = [];

  private constructor(
    private readonly home: string,
    private readonly configFile: string,
    /** `host:port`, for `commitbridge.endpoints`. */
    readonly endpoint: string,
    private child: ManagedChild,
  ) {}

  static async start(options: DaemonOptions): Promise<KillableDaemon> {
    const home = await mkdtemp(join(tmpdir(), 'commitbridge-daemon-'));
    try {
      const endpoint = `127.0.0.1:${await freePort()}`;
      const configFile = join(home, 'commitbridge.yaml');
      await writeFile(configFile, stringify(config(options, endpoint)), { mode: 0o600 }); // it holds the secret
      return new KillableDaemon(home, configFile, endpoint, await serve(configFile));
    } catch (error) {
      await rm(home, { recursive: true, force: true });
      throw error;
    }
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    this.child.kill();
    await this.child.exited;
    this.kills += 1;
    this.pastLogs.push(this.child.output);
  }

  /** After `kill`. */
  async restart(): Promise<void> {
    this.child = await serve(this.configFile);
  }

  /** Runs a command of the CLI, such as `jobs abort TOKEN`, with the daemon's configuration. */
  async command(...args: string[]): Promise<CommandResult> {
    const child = await ManagedChild.start(process.execPath, [main, ...args, '--config', this.configFile], {
      env,
    });
    const { code } = await child.exited;
    await sleep(20); // the last of its output comes after the exit
    return { code, output: child.output };
  }

  /** The tails of the logs of all its lives. */
  get log(): string {
    return [...this.pastLogs, this.child.output].join('\n--- SIGKILL ---\n');
  }

  async stop(): Promise<void> {
    await this.child.stop(5_000);
    await rm(this.home, { recursive: true, force: true });
  }
}

function config({ store, root, moreRoots = [] }: DaemonOptions, endpoint: string): object {
  return {
    listen: [endpoint],
    stores: {
      main: {
        ...{ type: 's3', endpoint: store.endpoint, region: store.region, pathStyle: true },
        credentials: { accessKeyId: store.accessKey, secretAccessKey: store.secretKey },
      },
    },
    roots: [root, ...moreRoots].map((uri) => ({ uri, store: 'main' })),
    upload: { partSize: '5MiB' },
    drain: { notice: '0s', grace: '3s' },
  };
}

async function serve(configFile: string): Promise<ManagedChild> {
  const child = await ManagedChild.start(process.execPath, [main, 'serve', '--config', configFile], { env });
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    await sleep(20);
    if (child.output.includes('"message":"listening"')) return child;
    if (!child.running) throw new Error(`The daemon ended while starting:\n${child.output}`);
  }
  child.kill();
  throw new Error(`The daemon did not listen within ${startTimeoutMs / 1000} s:\n${child.output}`);
}
