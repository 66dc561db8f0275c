import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { ManagedChild, repoRoot, type S3Access } from '../../test/support/servers/index.js';

const startTimeoutMs = 20_000;

export interface DaemonOptions {
  /** The store, as the daemon and the executors reach it. */
  store: S3Access;
  /** `s3` by default. */
  type?: 's3' | 'oss';
  bucket: string;
  /** Over the keys that this launcher sets; of the store under `stores.main`. */
  config?: { store?: Readonly<Record<string, unknown>> } & Readonly<Record<string, unknown>>;
  /** Of Node, as `--cpu-prof`. */
  nodeArgs?: readonly string[];
}

/** `commitbridge serve`, built, in a process of its own, on a free loopback port. */
export class Daemon {
  private constructor(
    private readonly child: ManagedChild,
    private readonly home: string,
    /** `host:port`, for `commitbridge.endpoints`. */
    readonly endpoint: string,
  ) {}

  static async start(options: DaemonOptions): Promise<Daemon> {
    const home = await mkdtemp(join(tmpdir(), 'commitbridge-daemon-'));
    try {
      const configFile = join(home, 'commitbridge.yaml');
      await writeFile(configFile, stringify(config(options)), { mode: 0o600 }); // it holds the secret
      const main = [
        ...(options.nodeArgs ?? []),
        join(repoRoot, 'dist/main.js'),
        'serve',
        '--config',
        configFile,
      ];
      const child = await ManagedChild.start(process.execPath, main, {
        env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
      });
      return new Daemon(child, home, await listeningAddress(child));
    } catch (error) {
      await rm(home, { recursive: true, force: true });
      throw error;
    }
  }

  get pid(): number {
    return this.child.pid;
  }

  /** The tail of its log. */
  get log(): string {
    return this.child.output;
  }

  async stop(): Promise<void> {
    await this.child.stop(5_000);
    await rm(this.home, { recursive: true, force: true });
  }
}

function config({
  store,
  bucket,
  type = 's3',
  config: { store: storeKeys, ...keys } = {},
}: DaemonOptions): object {
  return {
    listen: ['127.0.0.1:0'],
    stores: {
      main: {
        ...{ type, endpoint: store.endpoint, region: store.region, pathStyle: true },
        credentials: { accessKeyId: store.accessKey, secretAccessKey: store.secretKey },
        ...storeKeys,
      },
    },
    roots: [{ uri: `${type === 's3' ? 's3a' : type}://${bucket}/`, store: 'main' }],
    drain: { notice: '0s', grace: '3s' },
    ...keys,
  };
}

async function listeningAddress(child: ManagedChild): Promise<string> {
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    const address = /"message":"listening","addresses":\["([^"]+)"/.exec(child.output)?.[1];
    if (address !== undefined) return address;
    if (!child.running) throw new Error(`The daemon ended while starting:\n${child.output}`);
    await sleep(5);
  }
  child.kill();
  throw new Error(`The daemon did not listen within ${startTimeoutMs / 1000} s:\n${child.output}`);
}
