import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';

const repoRoot = fileURLToPath(new URL('../../..', import.meta.url));
const startTimeoutMs = 30_000;
const logTimeoutMs = 20_000;

export type LogLine = Readonly<Record<string, unknown>>;
export type Yaml = Readonly<Record<string, unknown>>;

/** A configuration that any test can start from: no store but memory, no waits. */
export const memoryConfig: Yaml = {
  listen: ['127.0.0.1:0'],
  stores: { main: { type: 'memory' } },
  roots: [{ uri: 's3a://bucket/tables', store: 'main' }],
  drain: { notice: '0s', grace: '5s' },
  log: { level: 'debug' },
};

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
export async function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  const child = spawnCli(args, env);
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

function spawnCli(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('COMMITBRIDGE_'));
  return spawn(process.execPath, ['--import', 'tsx', 'src/main.ts', ...args], {
    cwd: repoRoot,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** A temporary directory that goes with the test. */
export class Sandbox {
  private readonly daemons: Daemon[] = [];

  private constructor(readonly dir: string) {}

  static async make(): Promise<Sandbox> {
    return new Sandbox(await mkdtemp(join(tmpdir(), 'cb-e2e-')));
  }

  path(name: string): string {
    return join(this.dir, name);
  }

  async write(name: string, text: string): Promise<string> {
    await writeFile(this.path(name), text);
    return this.path(name);
  }

  async config(...layers: readonly Yaml[]): Promise<string> {
    return this.write('config.yaml', stringify(Object.assign({}, ...layers)));
  }

  /** Starts `serve` and waits until it listens. */
  async serve(...layers: readonly Yaml[]): Promise<Daemon> {
    const daemon = new Daemon(
      spawnCli(['serve', '--config', await this.config(memoryConfig, ...layers)], {}),
    );
    this.daemons.push(daemon);
    await daemon.waitForLog('listening', startTimeoutMs);
    return daemon;
  }

  async close(): Promise<void> {
    for (const daemon of this.daemons) await daemon.kill();
    await rm(this.dir, { recursive: true, force: true });
  }
}

export class Daemon {
  stdout = '';
  readonly logs: LogLine[] = [];
  /** Lines on stderr that are no JSON. */
  readonly otherLines: string[] = [];
  private rest = '';
  private readonly closed: Promise<number | null>;

  constructor(private readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => {
      this.take(chunk.toString());
    });
    this.closed = once(child, 'close').then(([code]) => code as number | null);
  }

  get addresses(): readonly string[] {
    const line = this.logs.find((log) => log['message'] === 'listening');
    return (line?.['addresses'] ?? []) as string[];
  }

  /** Its first TCP address. */
  get tcp(): string {
    return this.addresses.find((address) => !address.startsWith('unix:')) ?? '';
  }

  get adminUrl(): string {
    const line = this.logs.find((log) => log['message'] === 'admin listening');
    return `http://${String(line?.['address'])}`;
  }

  async waitForLog(message: string, timeoutMs = logTimeoutMs): Promise<LogLine> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const line = this.logs.find((log) => log['message'] === message);
      if (line !== undefined) return line;
      const hasEnded = this.child.exitCode !== null || this.child.signalCode !== null;
      if (hasEnded || Date.now() > deadline) {
        const seen = [...this.otherLines, ...this.logs.map((log) => JSON.stringify(log))].join('\n');
        throw new Error(`${hasEnded ? 'the daemon ended' : 'time is up'} before "${message}":\n${seen}`);
      }
      await sleep(20);
    }
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Its exit code. */
  async exit(): Promise<number | null> {
    return this.closed;
  }

  async stop(): Promise<number | null> {
    this.signal('SIGTERM');
    return this.exit();
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.closed;
  }

  private take(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      try {
        this.logs.push(JSON.parse(line) as LogLine);
      } catch {
        this.otherLines.push(line);
      }
    }
  }
}
