import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { repoRoot } from './servers/index.js';

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export function startQuickstart(args: string[] = [], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['scripts/quickstart.mjs', ...args], {
    cwd: repoRoot,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderrSoFar = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderrSoFar += chunk;
  });
  const ended = Promise.all([once(child, 'close'), text(child.stdout)]).then(([[code], stdout]): Ended => ({
    code: code as number | null,
    stdout,
    stderr: stderrSoFar,
  }));
  return { child, ended, stderr: () => stderrSoFar };
}

/** The last line of its output, on any store. */
export function expectEveryPromise({ code, stdout, stderr }: Ended): void {
  expect(code, stderr).toBe(0);
  const result = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
  expect(Object.keys(result)).toEqual([
    'files',
    'rows_written',
    'rows_read',
    'uploads_open_before_commit',
    'visible_before_commit',
    'uploads_left',
    'records_left',
    'requests',
    'seconds',
  ]);
  expect(result).toMatchObject({ visible_before_commit: 0, uploads_left: 0, records_left: 0 });
  expect(result['files']).toBeGreaterThan(0);
  expect(result['uploads_open_before_commit']).toBe(result['files']);
  expect(result['rows_written']).toBeGreaterThan(0);
  expect(result['rows_read']).toBe(result['rows_written']);
  const requests = result['requests'] as Record<string, number>;
  expect(requests).toMatchObject({ initiate: result['files'], complete: result['files'] });
  expect(requests).not.toHaveProperty('copy');
}
