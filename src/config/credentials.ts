import type { AccessKeyConfig, CredentialsConfig, OssCredentialsConfig } from './config.js';
import type { SchemaValues } from './schema.js';
import { Secret } from './secret.js';

type CredentialsValues = SchemaValues['stores'][string]['credentials'];
export type Environment = Readonly<Record<string, string | undefined>>;

/** Names that Aliyun's own tools read, the more particular ones first. */
const ossVariables = [
  ['OSS_ACCESS_KEY_ID', 'OSS_ACCESS_KEY_SECRET', 'OSS_SESSION_TOKEN'],
  ['ALIBABA_CLOUD_ACCESS_KEY_ID', 'ALIBABA_CLOUD_ACCESS_KEY_SECRET', 'ALIBABA_CLOUD_SECURITY_TOKEN'],
] as const;

export function credentialsOf(path: string, given: CredentialsValues, problems: string[]): CredentialsConfig {
  const { accessKeyId, secretAccessKey, sessionToken, file } = given;
  const hasStatic = accessKeyId !== undefined || secretAccessKey !== undefined || sessionToken !== undefined;
  if (file !== undefined) {
    if (hasStatic) problems.push(`${path}.file excludes the other keys of ${path}.`);
    return { kind: 'file', path: file };
  }
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { kind: 'static', accessKeyId, secretAccessKey, sessionToken };
  }
  if (accessKeyId !== undefined) {
    problems.push(
      `${path}.accessKeyId is set without ${path}.secretAccessKey or ${path}.secretAccessKeyFile.`,
    );
  } else if (hasStatic) {
    problems.push(`${path}.accessKeyId is missing beside the other keys of ${path}.`);
  }
  return { kind: 'default-chain' };
}

/** OSS has no chain: what isn't in the configuration has to be in the environment. */
export function ossCredentialsOf(
  path: string,
  given: CredentialsValues,
  env: Environment,
  problems: string[],
): OssCredentialsConfig {
  const { roleArn, sessionName, durationMs, endpoint } = given.sts;
  const before = problems.length;
  const own = credentialsOf(path, given, problems);
  if (own.kind === 'file') {
    if (roleArn !== undefined) {
      problems.push(`${path}.sts needs a key of its own; ${path}.file may hold the keys of a role itself.`);
    }
    return own;
  }
  const found =
    own.kind === 'static' ? { key: own, tokenName: `${path}.sessionToken` } : keyInEnvironment(env);
  const key = found?.key;
  if (key === undefined && problems.length === before) {
    problems.push(
      `${path} is empty, and so are ${ossVariables.map(([id, secret]) => `${id} with ${secret}`).join(' and ')}: set one.`,
    );
  }
  const source = key ?? { accessKeyId: '', secretAccessKey: new Secret(''), sessionToken: undefined };
  if (roleArn === undefined) return { kind: 'static', ...source };
  // ali-oss's client of STS sends no token, and STS would say that it doesn't know the key.
  if (source.sessionToken !== undefined) {
    problems.push(
      `${path}.sts.roleArn needs a lasting key, and ${found?.tokenName} is set, so that the key is a temporary one: ` +
        `remove ${path}.sts.roleArn, or give the key of a RAM user without a token.`,
    );
  }
  return { kind: 'sts', roleArn, sessionName, durationMs, endpoint, source };
}

function keyInEnvironment(
  env: Environment,
): { readonly key: AccessKeyConfig; readonly tokenName: string } | undefined {
  for (const [idName, secretName, tokenName] of ossVariables) {
    const accessKeyId = env[idName];
    const secretAccessKey = env[secretName];
    if (isEmpty(accessKeyId) || isEmpty(secretAccessKey)) continue;
    const token = env[tokenName];
    const sessionToken = isEmpty(token) ? undefined : new Secret(token);
    return { key: { accessKeyId, secretAccessKey: new Secret(secretAccessKey), sessionToken }, tokenName };
  }
  return undefined;
}

function isEmpty(text: string | undefined): text is undefined | '' {
  return text === undefined || text === '';
}
