import { spawn } from 'node:child_process';

/** How to get each tool that the test servers need. */
const howToGet: Record<string, string> = {
  java: 'a JDK 17 or later (apt-get install openjdk-17-jdk-headless, brew install openjdk@17)',
  mvn: 'Apache Maven 3.8 or later (apt-get install maven, brew install maven)',
  go: 'Go 1.25 or later (https://go.dev/dl, brew install go)',
};

/** The sentence for a tool that isn't on PATH: what is missing, what for, and how to get it. */
export function missingTool(tool: string, purpose: string): Error {
  return new Error(
    `'${tool}' was not found on PATH; ${purpose} needs it. Install ${howToGet[tool] ?? tool}.`,
  );
}

export interface RunToolOptions {
  /** Completes the sentence "… needs it" when the tool is missing. */
  purpose: string;
  cwd?: string;
  env?: Record<string, string>;
}

/** Runs a build tool to its end and returns its stdout; rejects with the tail of its output when it fails. */
export async function runTool(tool: string, args: string[], options: RunToolOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(tool, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let all = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      all += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      all += text;
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? missingTool(tool, options.purpose) : error);
    });
    child.on('close', (code, signal) => {
      if (code === 0) resolve(stdout);
      else {
        const tail = all.trimEnd().split('\n').slice(-25).join('\n');
        reject(new Error(`${tool} ${args.join(' ')} failed (${signal ?? code}):\n${tail}`));
      }
    });
  });
}
