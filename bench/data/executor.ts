import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface Written {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/**
 * Runs the writer in `bench/java/data`, which first warms itself up, and calls `before` when it's about to begin what it
 * measures.
 */
export async function runExecutor(args: readonly string[], before: () => void): Promise<Written> {
  const child = spawn('java', ['-Xmx1g', ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-10_000)));
  let written: Written | undefined;
  for await (const line of createInterface(child.stdout)) {
    if (line === 'ready') {
      before();
      child.stdin.end('go\n');
    } else if (line.startsWith('{')) {
      const { seconds, cpu_s } = JSON.parse(line) as { seconds: number; cpu_s: number };
      written = { seconds, cpuSeconds: cpu_s };
    }
  }
  const [code] = await ended;
  if (code !== 0 || written === undefined)
    throw new Error(`The writer ended with exit code ${code ?? 'none'}.`);
  return written;
}
