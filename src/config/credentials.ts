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
  const key = own.kind === 'static' ? own : keyInEnvironment(env);
  if (key === undefined && problems.length === before) {
    problems.push(
      `${path} is empty, and so are ${ossVariables.map(([id, secret]) => `${id} with ${secret}`).join(' and ')}: set one.`,
    );
  }
  const source = key ?? { accessKeyId: '', secretAccessKey: new Secret(''), sessionToken: undefined };
  if (roleArn === undefined) return { kind: 'static', ...source };
  return { kind: 'sts', roleArn, sessionName, durationMs, endpoint, source };
}

function keyInEnvironment(env: Environment): AccessKeyConfig | undefined {
  for (const [idName, secretName, tokenName] of ossVariables) {
    const accessKeyId = env[idName];
    const secretAccessKey = env[secretName];
    if (isEmpty(accessKeyId) || isEmpty(secretAccessKey)) continue;
    const token = env[tokenName];
    return {
      accessKeyId,
      secretAccessKey: new Secret(secretAccessKey),
      sessionToken: isEmpty(token) ? undefined : new Secret(token),
    };
  }
  return undefined;
}

function isEmpty(text: string | undefined): text is undefined | '' {
  return text === undefined || text === '';
}
