// Runs the steps of a script: one line of progress a step on stderr, and the output of a step only when it fails.
// Plain Node without dependencies: it runs before `npm ci`.
import { spawn } from 'node:child_process';

const beatMs = 15_000;
/** The commands that run now. */
const running = new Set();

/**
 * Runs `work` as a step: says that it began, that it still goes on, and how long it took.
 * @template T
 * @param {string} title
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(title, work) {
  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
  process.stderr.write(`> ${title} …\n`);
  const beat = setInterval(() => process.stderr.write(`  … ${title}: ${seconds()} so far\n`), beatMs);
  try {
    const result = await work();
    process.stderr.write(`  done: ${title} (${seconds()})\n`);
    return result;
  } catch (error) {
    process.stderr.write(`  FAILED: ${title} (${seconds()})\n`);
    throw error;
  } finally {
    clearInterval(beat);
  }
}

/**
 * Passes a signal that ends this process on to the commands that run, waits for them, and ends with the exit code
 * that a shell gives to it.
 */
export function stopOnSignals() {
  for (const [signal, exitCode] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
    process.on(signal, () => {
      process.stderr.write(`\nStopped by ${signal}.\n`);
      if (running.size === 0) process.exit(exitCode);
      let left = running.size;
      for (const child of running) {
        child.once('close', () => {
          left -= 1;
          if (left === 0) process.exit(exitCode);
        });
        child.kill(signal);
      }
    });
  }
}

/**
 * Runs a command to its end. Its output is kept and only shown, in the error, when it fails.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string> }} [options]
 * @returns {Promise<string>} its stdout
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = start(command, args, options, ['ignore', 'pipe', 'pipe']);
    let stdout = '';
    let all = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
      all += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      all += text;
    });
    child.on('error', (error) => {
      const missing = 'code' in error && error.code === 'ENOENT';
      reject(missing ? new Error(`'${command}' was not found on PATH.`) : error);
    });
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(stdout);
      const tail = all.trimEnd().split('\n').slice(-40).join('\n');
      reject(new Error(`${command} ${args.join(' ')} failed (${signal ?? `exit code ${code}`}):\n${tail}`));
    });
  });
}

/**
 * Runs a command with its output passed through.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string> }} [options]
 * @returns {Promise<number>} its exit code; 1 when a signal ended it
 */
export function passThrough(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = start(command, args, options, ['ignore', 'inherit', 'inherit']);
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/**
 * Runs a command to its end with its output shown as it comes, and keeps the last line that it wrote to stdout.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string> }} [options]
 * @returns {Promise<{ exitCode: number, lastLine: string }>}
 */
export function passThroughKeepingLastLine(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = start(command, args, options, ['ignore', 'pipe', 'inherit']);
    let tail = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      process.stdout.write(text);
      tail = (tail + text).slice(-4_096);
    });
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ exitCode: code ?? 1, lastLine: tail.trimEnd().split('\n').at(-1) ?? '' }),
    );
  });
}

function start(command, args, options, stdio) {
  const child = spawn(command, args, { cwd: options.cwd, env: { ...process.env, ...options.env }, stdio });
  running.add(child);
  child.on('close', () => running.delete(child));
  return child;
}
