import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryConfig, runCli, Sandbox } from './daemon.js';

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.make();
});

afterEach(async () => {
  await sandbox.close();
});

describe('usage', () => {
  it.each<[string[], number, RegExp | '', RegExp | '']>([
    [['version'], 0, /^\d+\.\d+\.\d+\n$/, ''],
    [['version', '--json'], 0, /^\{"version":"[\d.]+"\}\n$/, ''],
    [['--help'], 0, /^commitbridge: commits the output/, ''],
    [['jobs', '--help'], 0, /^Usage: commitbridge jobs list \| show TOKEN/, ''],
    [[], 2, '', /^commitbridge: commits the output/],
    [['serv'], 2, '', /^There is no command serv\. Did you mean serve\?/],
    [['serve', '--insecur'], 2, '', /^There is no option --insecur\. Did you mean --insecure\?\n$/],
    [['serve', '--config'], 2, '', /argument missing/],
    [['serve', 'now'], 2, '', /^serve takes no argument "now"\.\n$/],
    [['serve', '--set', 'x'], 2, '', /^--set takes KEY=VALUE/],
    [['serve'], 2, '', /No configuration file was named: use --config FILE\.\n$/],
    [['serve', '--config', '/none.yaml'], 2, '', /^The configuration file can't be read: ENOENT/],
    [['jobs'], 2, '', /^jobs takes one of list, show, commit, abort, not ""\.\n$/],
    [['jobs', 'show'], 2, '', /^jobs show takes one token\.\n$/],
    [['jobs', 'commit', 't', '--force'], 2, '', /^--force goes with jobs abort, not with jobs commit\.\n$/],
  ])('%j exits with %i', async (args, code, stdout, stderr) => {
    const result = await runCli(args);
    expect(result.code).toBe(code);
    for (const [text, pattern] of [
      [result.stdout, stdout],
      [result.stderr, stderr],
    ] as const) {
      if (pattern === '') expect(text).toBe('');
      else expect(text).toMatch(pattern);
    }
  });

  it('help of serve names the variable of each option', async () => {
    const { stdout } = await runCli(['serve', '--help']);
    expect(stdout).toContain('--limits-max-message VALUE');
    expect(stdout).toContain('Env: COMMITBRIDGE_LIMITS_MAX_MESSAGE.');
    expect(stdout).toContain('--[no-]reflection');
    expect(stdout).toContain('Env: COMMITBRIDGE_CONFIG.');
  });
});

describe('serve --print-config', () => {
  it('shows values of all layers with their origins, and no secrets', async () => {
    const stores = { main: { type: 's3', credentials: { accessKeyId: 'AK', secretAccessKey: 'hush-hush' } } };
    const config = await sandbox.config(memoryConfig, { stores });
    const { code, stdout, stderr } = await runCli(
      ['serve', '-c', config, '--print-config', '--no-reflection', '--set', 'stores.main.region=eu-west-1'],
      { COMMITBRIDGE_DRAIN_GRACE: '1m' },
    );
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.split('\n');
    expect(lines).toContain('reflection: false  # flag --no-reflection');
    expect(lines).toContain('stores.main.region: eu-west-1  # flag --set');
    expect(lines).toContain('drain.grace: 1m  # env COMMITBRIDGE_DRAIN_GRACE');
    expect(lines.some((line) => /^roots\[0\]\.store: main {2}# config\.yaml line \d+$/.test(line))).toBe(
      true,
    );
    expect(stdout).not.toContain('hush-hush');
  });

  it('takes the file from the environment', async () => {
    const env = { COMMITBRIDGE_CONFIG: await sandbox.config(memoryConfig) };
    expect((await runCli(['serve', '--print-config'], env)).code).toBe(0);
  });
});

describe('jobs', () => {
  it('lists nothing in an empty store, as a table and as JSON', async () => {
    const config = await sandbox.config(memoryConfig);
    expect(await runCli(['jobs', 'list', '--config', config])).toEqual({
      code: 0,
      stdout: 'TOKEN  ATTEMPT  STATE  AGE  APPLICATION  DESTINATION\n',
      stderr: '',
    });
    expect((await runCli(['jobs', 'list', '--json', '--config', config])).stdout).toBe('');
  });

  it('says that there is no such job, with exit code 3', async () => {
    const config = await sandbox.config(memoryConfig);
    const { code, stderr } = await runCli(['jobs', 'show', 'nobody', '--config', config]);
    expect(code).toBe(3);
    expect(stderr).toContain('No root holds a job with the token nobody.');
  });
});

describe('check', () => {
  it('is content with a memory store', async () => {
    const { code, stdout } = await runCli([
      'check',
      '--json',
      '--config',
      await sandbox.config(memoryConfig),
    ]);
    const findings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { check: string; status: string });
    expect(findings.map(({ check, status }) => `${check} ${status}`)).toEqual([
      'load ok',
      'reach ok',
      'conditional put ok',
      'conditional overwrite ok',
      'clock ok',
      'conditional delete ok',
      'upload ok',
      'presigned part skipped',
      'conditional complete ok',
      'lifecycle rule skipped',
    ]);
    expect(code).toBe(0);
  });

  it('exits with 3 where the store can not what it must', async () => {
    const stores = { main: { type: 'memory', capabilities: { conditionalPut: false } } };
    const { code, stdout } = await runCli([
      'check',
      '--config',
      await sandbox.config(memoryConfig, { stores }),
    ]);
    expect(code).toBe(3);
    expect(stdout).toMatch(
      /^unmet {3}roots\[0\] s3a:\/\/bucket\/tables: conditional put: roots\[0\]\.staging /m,
    );
  });

  it('exits with 4 where nobody answers, naming the key', async () => {
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
    const stores = { main: { type: 's3', endpoint: 'http://127.0.0.1:1', credentials } };
    const { code, stdout } = await runCli([
      'check',
      '--config',
      await sandbox.config(memoryConfig, { stores }),
    ]);
    expect(code).toBe(4);
    expect(stdout).toMatch(
      /^unreachable .*: reach: the store doesn't answer .*check stores\.main\.endpoint/m,
    );
  });

  it('asks a running daemon for its health', async () => {
    const daemon = await sandbox.serve();
    expect((await runCli(['check', '--endpoint', daemon.tcp])).code).toBe(0);
    await daemon.stop();
    const { code, stdout } = await runCli(['check', '--endpoint', daemon.tcp]);
    expect(code).toBe(4);
    expect(stdout).toContain('no daemon answers there');
  });
});
