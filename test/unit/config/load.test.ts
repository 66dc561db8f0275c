import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/config/config.js';
import { type ConfigFlag, loadConfig, type LoadedConfig } from '../../../src/config/load.js';
import { renderEffective } from '../../../src/config/print.js';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'commitbridge-config-'));
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

const minimal = `
stores:
  main: {type: memory}
roots:
  - {uri: s3a://bucket/tables, store: main}
`;

interface Sources {
  readonly yaml?: string;
  readonly env?: Record<string, string>;
  readonly flags?: Record<string, string>;
}

function load({ yaml = minimal, env = {}, flags = {} }: Sources = {}): LoadedConfig {
  const file = join(dir, 'config.yaml');
  writeFileSync(file, yaml);
  const asFlags = Object.entries(flags).map(([path, value]): ConfigFlag => ({
    path,
    value,
    origin: `flag --${path.replaceAll('.', '-')}`,
  }));
  return loadConfig({ file, env, flags: asFlags });
}

function problemsOf(sources: Sources): readonly string[] {
  try {
    load(sources);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('precedence', () => {
  it('takes defaults where nothing is said', () => {
    const { config } = load();
    expect(config.listen).toEqual([{ kind: 'tcp', host: '127.0.0.1', port: 7420 }]);
    expect(config.limits.maxMessageBytes).toBe(16 * 1024 * 1024);
    expect(config.drain).toEqual({ noticeMs: 5_000, graceMs: 30_000 });
    expect(config.reflection).toBe(true);
    expect(config.cleanup).toEqual({ enabled: true, ttlMs: 7 * 86_400_000, listing: 'never' });
    expect(config.roots[0]).toMatchObject({
      location: { scheme: 's3', bucket: 'bucket', key: 'tables' },
      staging: { scheme: 's3', bucket: 'bucket', key: '.commitbridge/jobs' },
      principals: [],
      listing: 'never',
    });
  });

  it('takes a root’s own listing before that of cleanup', () => {
    const roots = (own: string) => `[{"uri": "s3a://bucket/a", "store": "main"${own}}]`;
    const listing = (own: string) =>
      load({ env: { COMMITBRIDGE_ROOTS: roots(own), COMMITBRIDGE_CLEANUP_LISTING: 'exclusive' } }).config
        .roots[0]?.listing;
    expect(listing('')).toBe('exclusive');
    expect(listing(', "listing": "never"')).toBe('never');
  });

  it('merges file, environment and flags key by key', () => {
    const { config } = load({
      yaml: `${minimal}drain: {notice: 1s, grace: 2s}\nlog: {level: warn}\n`,
      env: { COMMITBRIDGE_DRAIN_GRACE: '3s', COMMITBRIDGE_LOG_LEVEL: 'error' },
      flags: { 'log.level': 'debug' },
    });
    expect(config.drain).toEqual({ noticeMs: 1_000, graceMs: 3_000 });
    expect(config.log.level).toBe('debug');
  });

  it('adds keys of a store from the environment and by --set', () => {
    const { config } = load({
      yaml: minimal.replaceAll('main', 'my-store'),
      env: { COMMITBRIDGE_STORES_MY_STORE_REGION: 'eu-west-1' },
      flags: {
        'stores.my-store.capabilities.conditionalPut': 'false',
        'stores.my-store.maxConnections': '7',
      },
    });
    expect(config.stores.get('my-store')).toMatchObject({
      region: 'eu-west-1',
      maxConnections: 7,
      capabilities: { conditionalPut: false },
    });
  });

  it('takes everything from the environment', () => {
    const { config } = loadConfig({
      env: {
        COMMITBRIDGE_STORES_MAIN_TYPE: 'memory',
        COMMITBRIDGE_ROOTS: '[{"uri": "s3a://bucket/a", "store": "main", "principals": ["etl"]}]',
        COMMITBRIDGE_LISTEN: '127.0.0.1:1, unix:///run/x.sock',
      },
    });
    expect(config.roots.map((root) => root.principals)).toEqual([['etl']]);
    expect(config.listen).toEqual([
      { kind: 'tcp', host: '127.0.0.1', port: 1 },
      { kind: 'unix', path: '/run/x.sock' },
    ]);
  });

  it('leaves variables alone that Kubernetes or tests set', () => {
    const env = {
      COMMITBRIDGE_SERVICE_HOST: '10.0.0.1',
      COMMITBRIDGE_SERVICE_PORT_GRPC: '7420',
      COMMITBRIDGE_PORT: 'tcp://10.0.0.1:7420',
      COMMITBRIDGE_PORT_7420_TCP_ADDR: '10.0.0.1',
      COMMITBRIDGE_TEST_SEED: '1',
      COMMITBRIDGE_CONFIG: '/etc/x.yaml',
    };
    expect(problemsOf({ env })).toEqual([]);
  });
});

describe('secrets', () => {
  const withSecret = (line: string) =>
    minimal.replace('{type: memory}', `{type: s3, credentials: {${line}}}`);

  it('are masked in print, JSON and inspection', () => {
    const { config, effective } = load({ yaml: withSecret('accessKeyId: AK, secretAccessKey: hush-hush') });
    const everything =
      renderEffective(effective) + JSON.stringify([...config.stores]) + inspect(config, { depth: 9 });
    expect(everything).not.toContain('hush-hush');
    expect(renderEffective(effective)).toContain(
      'stores.main.credentials.secretAccessKey: "***"  # config.yaml line 3',
    );
    const { credentials } = config.stores.get('main')!;
    expect(credentials.kind === 'static' && credentials.secretAccessKey.reveal()).toBe('hush-hush');
  });

  it('come from a file by the key with File appended', () => {
    writeFileSync(join(dir, 'secret'), 'from-file\n');
    const { config } = load({ yaml: withSecret(`accessKeyId: AK, secretAccessKeyFile: ${dir}/secret`) });
    const { credentials } = config.stores.get('main')!;
    expect(credentials.kind === 'static' && credentials.secretAccessKey.reveal()).toBe('from-file');
  });

  it('of a higher layer win over the file form of a lower one', () => {
    const { config } = load({
      yaml: withSecret('accessKeyId: AK, secretAccessKeyFile: /nowhere'),
      env: { COMMITBRIDGE_STORES_MAIN_CREDENTIALS_SECRET_ACCESS_KEY: 'from-env' },
    });
    const { credentials } = config.stores.get('main')!;
    expect(credentials.kind === 'static' && credentials.secretAccessKey.reveal()).toBe('from-env');
  });

  it('never stand in an error', () => {
    const yaml = withSecret('accessKeyId: AK, secretAccessKey: [hush-hush]');
    expect(problemsOf({ yaml })).toEqual([
      'stores.main.credentials.secretAccessKey (config.yaml line 3) must be a text that is not empty.',
    ]);
  });
});

describe('--print-config', () => {
  it('shows every value with its origin', () => {
    const { effective } = load({
      env: { COMMITBRIDGE_LOG_LEVEL: 'warn' },
      flags: { 'drain.grace': '1m' },
    });
    const lines = renderEffective(effective).split('\n');
    expect(lines).toContain('stores.main.type: memory  # config.yaml line 3');
    expect(lines).toContain('log.level: warn  # env COMMITBRIDGE_LOG_LEVEL');
    expect(lines).toContain('drain.grace: 1m  # flag --drain-grace');
    expect(lines).toContain('drain.notice: 5s  # default');
    expect(lines).toContain('roots[0].uri: s3a://bucket/tables  # config.yaml line 4');
  });
});

const s3 = (rest: string) => minimal.replace('{type: memory}', `{type: s3, ${rest}}`);
const root = (rest: string) => minimal.replace('store: main}', `store: main, ${rest}}`);

/** Every sentence that refuses a configuration. */
const refusals: readonly (readonly [string, Sources, readonly string[]])[] = [
  [
    'a key nobody knows',
    { yaml: `${minimal}limits:\n  maxMesage: 1MiB\n` },
    [
      'limits.maxMesage (config.yaml line 7) is not a key of the configuration. Did you mean limits.maxMessage?',
    ],
  ],
  [
    'a key of a root nobody knows',
    { yaml: root('stagin: s3a://b/x') },
    [
      'roots[0].stagin (config.yaml line 4) is not a key of the configuration. Did you mean roots[0].staging?',
    ],
  ],
  [
    'a variable nobody knows',
    { env: { COMMITBRIDGE_LOG_LEVELS: 'x' } },
    [
      'The environment variable COMMITBRIDGE_LOG_LEVELS names no key of the configuration. Did you mean COMMITBRIDGE_LOG_LEVEL?',
    ],
  ],
  [
    'a --set nobody knows',
    { flags: { 'stores.main.regio': 'x' } },
    [
      'stores.main.regio (flag --stores-main-regio) is not a key of the configuration. Did you mean stores.main.region?',
    ],
  ],
  [
    'a bad choice',
    { env: { COMMITBRIDGE_LOG_LEVEL: 'loud' } },
    ['log.level (env COMMITBRIDGE_LOG_LEVEL) must be one of debug, info, warn, error, not "loud".'],
  ],
  [
    'a number without a unit',
    { yaml: `${minimal}drain: {notice: 5}\n` },
    [
      'drain.notice (config.yaml line 6) must be a duration with a unit such as 500ms, 45s, 15m, 2h or 7d, not 5.',
    ],
  ],
  [
    'a size out of range',
    { yaml: `${minimal}limits: {maxMessage: 1GiB}\n` },
    ['limits.maxMessage (config.yaml line 6) must lie between 64KiB and 256MiB, not "1GiB".'],
  ],
  [
    'a number out of range',
    { yaml: `${minimal}retry: {attempts: 0}\n` },
    ['retry.attempts (config.yaml line 6) must be a whole number from 1 to 100, not 0.'],
  ],
  [
    'a word for a boolean',
    { yaml: `${minimal}reflection: maybe\n` },
    ['reflection (config.yaml line 6) must be true or false, not "maybe".'],
  ],
  [
    'a scalar for a section',
    { yaml: `${minimal}drain: 5s\n` },
    ['drain (config.yaml line 6) must have keys below it.'],
  ],
  [
    'no list',
    { yaml: `${minimal}listen: 127.0.0.1:1\n` },
    ['listen (config.yaml line 6) must be a list, not "127.0.0.1:1".'],
  ],
  [
    'a bad name',
    { yaml: minimal.replaceAll('main', 'Main') },
    ['stores.Main (config.yaml line 3) is no name that an entry may have: it must match [a-z][a-z0-9-]*.'],
  ],
  [
    'no type',
    { yaml: minimal.replace('type: memory', 'region: x') },
    ['stores.main.type is missing: the kind of store. `memory` forgets all at exit: for trying things out.'],
  ],
  [
    'no store',
    { yaml: 'roots: [{uri: s3a://b/x, store: main}]' },
    [
      'stores is empty: name at least one object store.',
      'roots[0].store is "main", which is no entry of stores ().',
    ],
  ],
  [
    'no root',
    { yaml: 'stores: {main: {type: memory}}' },
    ['roots is empty: name at least one URI that jobs may write below.'],
  ],
  [
    'an address in the open',
    { flags: { listen: '0.0.0.0:7420' } },
    [
      'listen[0] ("0.0.0.0:7420") can be reached by other machines without encryption: set tls.cert and tls.key, or ' +
        'listen on 127.0.0.1 or a unix socket, or set insecure: true (--insecure) if the network is trusted.',
    ],
  ],
  [
    'no address',
    { flags: { listen: '7420' } },
    ['listen[0] must be host:port, as 127.0.0.1:7420 or [::1]:7420, or unix:///path/name.sock, not "7420".'],
  ],
  [
    'an address twice',
    { flags: { listen: '127.0.0.1:1,127.0.0.1:1' } },
    ['listen[1] ("127.0.0.1:1") is there twice.'],
  ],
  [
    'a long socket path',
    { flags: { listen: `unix:///${'x'.repeat(105)}.sock` } },
    [
      `listen[0] names a socket path of 111 bytes; the system takes 107, not "unix:///${'x'.repeat(105)}.sock".`,
    ],
  ],
  [
    'a socket of another name',
    { flags: { listen: 'unix:///run/x' } },
    ['listen[0] must name a path that ends in .sock, not "unix:///run/x".'],
  ],
  [
    'a relative socket',
    { flags: { listen: 'unix:x.sock' } },
    [
      'listen[0] must name an absolute path, as unix:///run/commitbridge/commitbridge.sock, not "unix:x.sock".',
    ],
  ],
  ['a certificate without key', { flags: { 'tls.cert': 'c.pem' } }, ['tls.cert is set without tls.key.']],
  ['a key without certificate', { flags: { 'tls.key': 'k.pem' } }, ['tls.key is set without tls.cert.']],
  [
    'an authority without TLS',
    { flags: { 'tls.clientCa': 'ca.pem' } },
    ['tls.clientCa is set without tls.cert and tls.key: client certificates need TLS.'],
  ],
  [
    'a bad admin address',
    { flags: { 'admin.listen': 'x' } },
    ['admin.listen must be host:port, as 127.0.0.1:7421, not "x".'],
  ],
  [
    'an endpoint with a path',
    { yaml: s3('endpoint: "http://h/x"') },
    ['stores.main.endpoint must be an http or https URL without a path, not "http://h/x".'],
  ],
  [
    'an endpoint with a password, which is not told',
    { yaml: s3('endpoint: "http://user:hunter2@h"') },
    [
      'stores.main.endpoint must be an http or https URL without user name and password, which go to stores.main.credentials.',
    ],
  ],
  [
    'half a credential',
    { yaml: s3('credentials: {accessKeyId: a}') },
    [
      'stores.main.credentials.accessKeyId is set without stores.main.credentials.secretAccessKey or stores.main.credentials.secretAccessKeyFile.',
    ],
  ],
  [
    'the other half',
    { yaml: s3('credentials: {secretAccessKey: a}') },
    ['stores.main.credentials.accessKeyId is missing beside the other keys of stores.main.credentials.'],
  ],
  [
    'two kinds of credentials',
    { yaml: s3('credentials: {accessKeyId: a, secretAccessKey: b, file: /f}') },
    ['stores.main.credentials.file excludes the other keys of stores.main.credentials.'],
  ],
  [
    'a secret twice',
    { yaml: s3('credentials: {accessKeyId: a, secretAccessKey: b, secretAccessKeyFile: /f}') },
    [
      'stores.main.credentials.secretAccessKey (config.yaml line 3) and stores.main.credentials.secretAccessKeyFile (config.yaml line 3) exclude each other.',
    ],
  ],
  [
    'a secret file that is not there',
    { yaml: s3('credentials: {accessKeyId: a, secretAccessKeyFile: /none/x}') },
    [
      "stores.main.credentials.secretAccessKeyFile (config.yaml line 3) names a file that can't be read: ENOENT: no such file or directory, open '/none/x'.",
    ],
  ],
  [
    'a KMS key without KMS',
    { yaml: s3('encryption: {mode: AES256, kmsKeyId: k}') },
    ['stores.main.encryption.kmsKeyId needs stores.main.encryption.mode aws:kms.'],
  ],
  [
    'a root twice',
    { yaml: `${minimal}  - {uri: s3n://bucket/tables/, store: main}\n` },
    ['roots[1].uri ("s3n://bucket/tables/") is that of roots[0] again.'],
  ],
  [
    'an unknown store',
    { yaml: minimal.replace('store: main', 'store: other') },
    ['roots[0].store is "other", which is no entry of stores (main).'],
  ],
  [
    'another scheme',
    { yaml: s3('').replace('s3a://bucket', 'hdfs://bucket') },
    ['roots[0].uri ("hdfs://bucket/tables") must have the scheme s3, s3a or s3n: stores.main is of type s3.'],
  ],
  [
    'no URI',
    { yaml: minimal.replace('s3a://bucket/tables', 'bucket') },
    ['roots[0].uri must be a URI like s3a://bucket/path, at most 2048 bytes; got "bucket".'],
  ],
  [
    'staging without a prefix',
    { yaml: root('staging: s3a://other') },
    ['roots[0].staging must be a prefix of its own, not the whole bucket other.'],
  ],
  [
    'a root inside a staging root',
    { yaml: root('staging: s3a://bucket/tables') },
    [
      'roots[0].uri ("s3a://bucket/tables") lies inside roots[0].staging ("s3://bucket/tables"): jobs would write into the state of jobs.',
    ],
  ],
];

describe('refusals', () => {
  it.each(refusals)('%s', (_name, sources, sentences) => {
    expect(problemsOf(sources)).toEqual(sentences);
  });

  it('come all at once', () => {
    expect(problemsOf({ yaml: `${minimal}a: 1\nlog: {level: x}\n` })).toHaveLength(2);
  });

  it('name the line of bad YAML', () => {
    expect(problemsOf({ yaml: 'stores:\n  - a\n b: [' })[0]).toMatch(
      /^config.yaml line \d+ is no valid YAML: /,
    );
  });

  it('say that the file is not there', () => {
    expect(() => loadConfig({ file: join(dir, 'none.yaml') })).toThrow(
      /^The configuration file can't be read: ENOENT/,
    );
  });
});

describe('addresses', () => {
  it.each(['127.0.0.1:0', 'localhost:1', '[::1]:7420', '127.1.2.3:5'])('%s is loopback', (listen) => {
    expect(problemsOf({ flags: { listen } })).toEqual([]);
  });

  it.each([{ insecure: 'true' }, { 'tls.cert': 'c', 'tls.key': 'k' }])('may be open with %o', (flags) => {
    expect(problemsOf({ flags: { listen: '0.0.0.0:7420', ...flags } })).toEqual([]);
  });
});
