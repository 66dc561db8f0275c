import { readdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { expectEveryPromise, startQuickstart } from '../../support/quickstart.js';

const minute = 60_000;

describe('npm run quickstart', () => {
  it('ends with one line of JSON in which every promise holds', { timeout: 6 * minute }, async () => {
    expectEveryPromise(await startQuickstart().ended);
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
