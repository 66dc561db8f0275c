import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { repoRoot } from '../../support/servers/index.js';

const minute = 60_000;

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

function startQuickstart(args: string[] = [], env: Record<string, string> = {}) {
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

describe('npm run quickstart', () => {
  it('ends with one line of JSON in which every promise holds', { timeout: 6 * minute }, async () => {
    const { code, stdout, stderr } = await startQuickstart().ended;

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
  });

  it('stops everything that it started when it is stopped itself', { timeout: 4 * minute }, async () => {
    const temporary = await mkdtemp(join(tmpdir(), 'commitbridge-quickstart-test-'));
    const { child, ended, stderr } = startQuickstart([], { TMPDIR: temporary });
    while (!stderr().includes('another client lists the table')) {
      expect(child.exitCode, stderr()).toBeNull();
      await sleep(50);
    }
    await sleep(1_000); // Spark is starting
    child.kill('SIGINT');

    expect((await ended).code).toBe(130);
    expect((await readdir(temporary)).filter((name) => name.startsWith('commitbridge-'))).toEqual([]);
    await rm(temporary, { recursive: true, force: true });
  });

  it.each([
    [['--shop', 'x'], 'There is no option --shop.'],
    [['--store', 'floppy'], "--store takes s3proxy or oss, not 'floppy'."],
    [['--store'], '--store takes s3proxy or oss, not nothing.'],
  ])('refuses %j with a sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await startQuickstart(args).ended;

    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(sentence);
  });

  it('says what the machine lacks and how to get it', async () => {
    const path = await mkdtemp(join(tmpdir(), 'commitbridge-empty-path-'));
    await symlink(process.execPath, join(path, 'node'));
    const { code, stdout, stderr } = await startQuickstart([], { PATH: path }).ended;
    await rm(path, { recursive: true, force: true });

    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/a JDK .* was not found on PATH: version 17 or later is needed\. Get it: /);
    expect(stderr).toMatch(/Apache Maven was not found on PATH/);
  });
});
