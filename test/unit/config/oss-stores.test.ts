import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseOssCredentials } from '../../../src/adapters/oss/oss-credentials.js';
import { ConfigError } from '../../../src/config/config.js';
import { loadConfig } from '../../../src/config/load.js';
import { buildApp } from '../../../src/wiring.js';
import type { Logger } from '../../../src/ports/logger.js';
import { startScriptedServer } from '../adapters/scripted-server.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'commitbridge-oss-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

const nothing = (): void => undefined;
const silent: Logger = {
  ...{ debug: nothing, info: nothing, warn: nothing, error: nothing },
  child: () => silent,
};
const metrics = { count: nothing, observe: nothing, gauge: nothing };

type Environment = Readonly<Record<string, string>>;
const keys = 'accessKeyId: ID, secretAccessKey: hush';
const lasting = `credentials: {${keys}}`;
const inOss = { OSS_ACCESS_KEY_ID: 'OSS', OSS_ACCESS_KEY_SECRET: 'hush' };
const inAlibaba = { ALIBABA_CLOUD_ACCESS_KEY_ID: 'ALI', ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'hush' };

function load(store: string, env: Environment) {
  const file = join(dir, 'config.yaml');
  writeFileSync(
    file,
    `stores:\n  main: {type: oss, ${store}}\nroots:\n  - {uri: oss://lake/tables, store: main}\n`,
    { mode: 0o600 },
  );
  return loadConfig({ file, env, flags: [] }).config;
}

function problemsOf(store: string, env: Environment): readonly string[] {
  try {
    load(store, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

/** What the daemon's own store signs a part with: where it goes to, and by whose key. */
async function signed(store: string, env: Environment = {}) {
  const app = await buildApp({ config: load(store, env), logger: silent, metrics });
  try {
    const upload = { bucket: 'lake', key: 'tables/a', uploadId: 'u' };
    const { url } = await app.stores.get('main')!.presignPart(upload, 1, 60);
    const { origin, pathname, searchParams } = new URL(url);
    const credential = searchParams.get('x-oss-credential')?.split('/') ?? [];
    return {
      place: `${origin}${pathname}`,
      by: credential[0] ?? searchParams.get('OSSAccessKeyId'),
      region: credential[2],
      token: searchParams.get('x-oss-security-token') ?? searchParams.get('security-token'),
    };
  } finally {
    await app.close();
  }
}

describe('endpoints of OSS', () => {
  const hangzhou = 'region: cn-hangzhou';
  it.each([
    ['public', hangzhou, 'https://lake.oss-cn-hangzhou.aliyuncs.com/tables/a'],
    [
      'public, region with prefix',
      'region: oss-cn-hangzhou',
      'https://lake.oss-cn-hangzhou.aliyuncs.com/tables/a',
    ],
    [
      'internal',
      `${hangzhou}, internal: true`,
      'https://lake.oss-cn-hangzhou-internal.aliyuncs.com/tables/a',
    ],
    [
      'own',
      `${hangzhou}, endpoint: "https://oss.example.com:8443"`,
      'https://lake.oss.example.com:8443/tables/a',
    ],
    [
      'cname',
      `${hangzhou}, cname: true, endpoint: "https://data.example.com"`,
      'https://data.example.com/tables/a',
    ],
    [
      'path style',
      `${hangzhou}, pathStyle: true, endpoint: "http://oss.test"`,
      'http://oss.test/lake/tables/a',
    ],
    [
      'IP address, path style',
      `${hangzhou}, pathStyle: true, endpoint: "http://127.0.0.1:9000"`,
      'http://127.0.0.1:9000/lake/tables/a',
    ],
  ])('%s', async (_, store, place) => {
    expect(await signed(`${store}, ${lasting}`)).toEqual({
      ...{ place, by: 'ID', region: 'cn-hangzhou', token: null },
    });
  });

  it.each([
    ['no region', 'signature: v4', /^stores\.main\.region is missing: OSS needs it/],
    [
      'IPv4 without path style',
      `${hangzhou}, endpoint: "http://127.0.0.1:9000"`,
      /endpoint is an IP address.*pathStyle/,
    ],
    ['IPv6', `${hangzhou}, endpoint: "http://[::1]:9000"`, /endpoint is an IPv6 address.*name a host/],
    ['IPv6, path style', `${hangzhou}, pathStyle: true, endpoint: "http://[::1]:9000"`, /is an IPv6 address/],
    ['cname without endpoint', `${hangzhou}, cname: true`, /cname needs stores\.main\.endpoint/],
    [
      'cname and path style',
      `${hangzhou}, cname: true, pathStyle: true, endpoint: "https://a.example.com"`,
      /cname excludes stores\.main\.pathStyle/,
    ],
    [
      'internal and endpoint',
      `${hangzhou}, internal: true, endpoint: "https://a.example.com"`,
      /internal chooses the endpoint/,
    ],
  ])('refused: %s', (_, store, sentence) => {
    expect(problemsOf(`${store}, ${lasting}`, {})).toEqual([expect.stringMatching(sentence)]);
  });
});

describe('credentials of OSS', () => {
  const store = 'region: cn-hangzhou';
  it.each<[string, string, Environment, string, string | null]>([
    ['static', `${store}, ${lasting}`, inOss, 'ID', null],
    ['static, temporary', `${store}, credentials: {${keys}, sessionToken: T}`, {}, 'ID', 'T'],
    ['static, V1', `${store}, signature: v1, credentials: {${keys}, sessionToken: T}`, {}, 'ID', 'T'],
    ['OSS_*', store, inOss, 'OSS', null],
    ['OSS_* before ALIBABA_CLOUD_*', store, { ...inAlibaba, ...inOss }, 'OSS', null],
    ['OSS_SESSION_TOKEN', store, { ...inOss, OSS_SESSION_TOKEN: 'T' }, 'OSS', 'T'],
    ['ALIBABA_CLOUD_*', store, { ...inAlibaba, ALIBABA_CLOUD_SECURITY_TOKEN: 'T' }, 'ALI', 'T'],
    ['a token of the other key', store, { ...inAlibaba, OSS_SESSION_TOKEN: 'T' }, 'ALI', null],
    ['half of a key', store, { ...inAlibaba, OSS_ACCESS_KEY_ID: 'OSS' }, 'ALI', null],
  ])('%s', async (_, text, env, by, token) => {
    expect(await signed(text, env)).toMatchObject({ by, token });
  });

  it('a file, in both its forms', async () => {
    const path = join(dir, 'keys');
    const text = `${store}, credentials: {file: "${path}"}`;
    writeFileSync(path, '{"AccessKeyId":"STS.A","AccessKeySecret":"hush","SecurityToken":"T"}');
    expect(await signed(text, inOss)).toMatchObject({ by: 'STS.A', token: 'T' });
    writeFileSync(path, '[Credentials]\nlanguage=EN\naccessKeyID = B\naccessKeySecret=hush\n');
    expect(await signed(text, inOss)).toMatchObject({ by: 'B', token: null });
  });

  it('a role: STS is asked by the lasting key, for the role and the time that are configured', async () => {
    const answer = { AccessKeyId: 'STS.R', AccessKeySecret: 'hush', SecurityToken: 'TR' };
    const Credentials = { ...answer, Expiration: new Date(Date.now() + 3_600_000).toISOString() };
    const sts = await startScriptedServer([{ status: 200, body: JSON.stringify({ Credentials }) }]);
    const role = `roleArn: "acs:ram::1:role/r", duration: 30m, endpoint: "${sts.endpoint}"`;
    try {
      for (const [text, env, asker] of [
        [`${store}, credentials: {sts: {${role}}}`, inOss, 'OSS'],
        [`${store}, credentials: {${keys}, sts: {${role}}}`, {}, 'ID'],
      ] as const) {
        sts.seen.length = 0;
        expect(await signed(text, env)).toMatchObject({ by: 'STS.R', token: 'TR' });
        const asked = new URLSearchParams(sts.seen[0]!.body.toString());
        expect(Object.fromEntries(asked)).toMatchObject({
          ...{ Action: 'AssumeRole', RoleArn: 'acs:ram::1:role/r', RoleSessionName: 'commitbridge' },
          ...{ DurationSeconds: '1800', AccessKeyId: asker },
        });
      }
    } finally {
      await sts.stop();
    }
  });

  const sts = 'sts: {roleArn: "acs:ram::1:role/r"}';
  it.each<[string, string, Environment, RegExp]>([
    ['none', store, {}, /credentials is empty, and so are OSS_ACCESS_KEY_ID with OSS_ACCESS_KEY_SECRET/],
    [
      'a role by a temporary key of the environment',
      `${store}, credentials: {${sts}}`,
      { ...inOss, OSS_SESSION_TOKEN: 'T' },
      /^stores\.main\.credentials\.sts\.roleArn needs a lasting key, and OSS_SESSION_TOKEN is set/,
    ],
    [
      'the same by its other names',
      `${store}, credentials: {${sts}}`,
      { ...inAlibaba, ALIBABA_CLOUD_SECURITY_TOKEN: 'T' },
      /and ALIBABA_CLOUD_SECURITY_TOKEN is set/,
    ],
    [
      'a role by a temporary key of the configuration',
      `${store}, credentials: {${keys}, sessionToken: T, ${sts}}`,
      {},
      /sts\.roleArn needs a lasting key, and stores\.main\.credentials\.sessionToken is set/,
    ],
    [
      'a role by a file',
      `${store}, credentials: {file: /x, ${sts}}`,
      {},
      /credentials\.sts needs a key of its own/,
    ],
  ])('refused: %s', (_, text, env, sentence) => {
    const problems = problemsOf(text, env);
    expect(problems).toEqual([expect.stringMatching(sentence)]);
    expect(problems.join()).not.toContain('hush');
  });
});

describe('parseOssCredentials', () => {
  const expiration = new Date('2030-01-01T00:00:00Z');
  const whole = { accessKeyId: 'A', accessKeySecret: 'S', securityToken: 'T' };
  it.each([
    [
      '{"AccessKeyId":"A","AccessKeySecret":"S","SecurityToken":"T","Expiration":"2030-01-01T00:00:00Z"}',
      { ...whole, expiration },
    ],
    ['{"AccessKeyId":"A","AccessKeySecret":"S"}', { accessKeyId: 'A', accessKeySecret: 'S' }],
    ['[Credentials]\naccessKeyID=A\r\naccessKeySecret = S\nstsToken=T\n', whole],
  ])('reads %j', (text, expected) => {
    expect(parseOssCredentials(text)).toEqual(expected);
  });

  it.each([
    ['', 'lacks'],
    ['accessKeyID = A', 'lacks'],
    ['{"AccessKeyId":"A","SecretAccessKey":"hush"}', 'lacks'],
    ['{"AccessKeyId":"A","AccessKeySecret":"hush","Expiration":"soon"}', 'no date'],
    ['{"AccessKeyId":"A","AccessKeySecret":"hush"', 'no valid JSON'],
  ])('refuses %j, without quoting it', (text, reason) => {
    expect(() => parseOssCredentials(text)).toThrow(reason);
    expect(() => parseOssCredentials(text)).toThrow(/^(?!.*hush)/);
  });
});
