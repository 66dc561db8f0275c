import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const tailLimit = 64 * 1024;

export interface ChildOptions {
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Completes the sentence of a missing tool. */
  onMissing?: () => Error;
}

/**
 * A process that a test starts and that never outlives it: it leads a process group of its own, and a watchdog that
 * holds the other end of a pipe kills the group when this process is gone, however it went.
 */
export class ManagedChild {
  readonly pid: number;
  /** Resolves when the process has ended. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** The last part of what it wrote to stdout and stderr. */
  output = '';
  private ended = false;

  private constructor(
    readonly process: ChildProcess,
    pid: number,
    private readonly watchdog: ChildProcess,
  ) {
    this.pid = pid;
    const collect = (text: string): void => {
      this.output = (this.output + text).slice(-tailLimit);
    };
    process.stdout?.setEncoding('utf8').on('data', collect);
    process.stderr?.setEncoding('utf8').on('data', collect);
    this.exited = new Promise((resolve) => {
      process.once('exit', (code, signal) => {
        this.ended = true;
        this.killGroup('SIGKILL'); // what it may have left behind
        this.watchdog.kill('SIGKILL');
        resolve({ code, signal });
      });
    });
  }

  static async start(command: string, args: string[], options: ChildOptions = {}): Promise<ManagedChild> {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    try {
      await once(child, 'spawn');
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT' ? options.onMissing?.() : undefined;
      throw missing ?? error;
    }
    const pid = child.pid;
    if (pid === undefined) throw new Error(`${command} has no process id`);
    return new ManagedChild(child, pid, startWatchdog(pid));
  }

  get running(): boolean {
    return !this.ended;
  }

  /** SIGKILL to the process and all that it started; returns at once. */
  kill(): void {
    this.killGroup('SIGKILL');
  }

  /** SIGTERM, and SIGKILL when that hasn't helped in `graceMs`. */
  async stop(graceMs = 5_000): Promise<void> {
    if (!this.ended) this.signal('SIGTERM');
    const timer = setTimeout(() => this.kill(), graceMs);
    await this.exited;
    clearTimeout(timer);
  }

  /** Sends a signal to the process alone. */
  signal(signal: NodeJS.Signals): void {
    if (!this.ended) this.process.kill(signal);
  }

  private killGroup(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** A shell that reads from a pipe until this process is gone, and then kills the group. */
function startWatchdog(pid: number): ChildProcess {
  const script = `while read -r _; do :; done; kill -s KILL -- -${pid} 2>/dev/null`;
  const watchdog = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watchdog.unref();
  watchdog.stdin.on('error', () => undefined);
  (watchdog.stdin as unknown as { unref?: () => void }).unref?.();
  return watchdog;
}
