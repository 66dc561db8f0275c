import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { freePort, ManagedChild, repoRoot, type S3Access } from '../servers/index.js';

const startTimeoutMs = 30_000;

export interface DaemonProcessOptions {
  readonly store: S3Access;
  readonly bucket: string;
  /** Over the keys that this launcher sets. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Of its process, as `--max-old-space-size=256`. */
  readonly nodeOptions?: readonly string[];
}

/** `commitbridge serve` from its source, in a process of its own that may be killed and started again. */
export class DaemonProcess {
  private constructor(
    private readonly dir: string,
    readonly configFile: string,
    /** `host:port`, the same after a restart. */
    readonly address: string,
    private child: ManagedChild,
    private readonly nodeOptions: readonly string[],
  ) {}

  static async start(options: DaemonProcessOptions): Promise<DaemonProcess> {
    const dir = await mkdtemp(join(tmpdir(), 'commitbridge-daemon-'));
    try {
      const address = `127.0.0.1:${await freePort()}`;
      const configFile = join(dir, 'commitbridge.yaml');
      // It holds the secret.
      await writeFile(configFile, stringify(configOf(options, address)), { mode: 0o600 });
      const { nodeOptions = [] } = options;
      return new DaemonProcess(dir, configFile, address, await launch(configFile, nodeOptions), nodeOptions);
    } catch (error) {
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }

  /** The tail of its log. */
  get output(): string {
    return this.child.output;
  }

  get pid(): number {
    return this.child.pid;
  }

  get isRunning(): boolean {
    return this.child.running;
  }

  /** SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    this.child.kill();
    await this.child.exited;
  }

  /** On the same address, after {@link kill}. */
  async restart(): Promise<void> {
    this.child = await launch(this.configFile, this.nodeOptions);
  }

  /** SIGTERM. */
  async stop(): Promise<void> {
    await this.child.stop();
    await rm(this.dir, { recursive: true, force: true });
  }
}

function configOf({ store, bucket, config }: DaemonProcessOptions, address: string): object {
  return {
    listen: [address],
    stores: {
      main: {
        type: 's3',
        endpoint: store.endpoint,
        region: store.region,
        credentials: { accessKeyId: store.accessKey, secretAccessKey: store.secretKey },
      },
    },
    roots: [{ uri: `s3a://${bucket}/tables`, store: 'main' }],
    drain: { notice: '0s', grace: '5s' },
    ...config,
  };
}

async function launch(configFile: string, nodeOptions: readonly string[]): Promise<ManagedChild> {
  const args = [
    ...nodeOptions,
    '--import',
    'tsx',
    join(repoRoot, 'src/main.ts'),
    'serve',
    '--config',
    configFile,
  ];
  const child = await ManagedChild.start(process.execPath, args, { cwd: repoRoot });
  const deadline = Date.now() + startTimeoutMs;
  while (!child.output.includes('"listening"')) {
    if (!child.running || Date.now() > deadline) {
      child.kill();
      throw new Error(`the daemon ${child.running ? 'did not listen' : 'ended'}:\n${child.output}`);
    }
    await sleep(20);
  }
  return child;
}
