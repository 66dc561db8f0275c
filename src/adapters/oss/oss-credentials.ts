import type { Clock } from '../../ports/clock.js';
import { StoreError } from '../../ports/object-store.js';
import { credentialValues, expirationOf, FileCredentials } from '../watched-credentials.js';
import type { OssAccessKey, OssCredentialsOptions } from './oss-options.js';
import { StsCredentials, type AssumeRole } from './sts-credentials.js';

export interface OssCredentials extends OssAccessKey {
  readonly expiration?: Date;
}

/** Where the access key of each request comes from. */
export interface OssCredentialsSource {
  get(): Promise<OssCredentials>;
  /** The store refused these: they aren't to be given again if others can be had. */
  refused(credentials: OssCredentials): void;
}

export function credentialsSource(
  options: OssCredentialsOptions,
  clock: Clock,
  assumeRole: AssumeRole,
): OssCredentialsSource {
  switch (options.kind) {
    case 'static':
      return { get: () => Promise.resolve(options), refused: () => undefined };
    case 'file': {
      const file = new FileCredentials(options.path, clock, parseOssCredentials);
      return { get: () => file.get(), refused: () => file.refresh() };
    }
    case 'sts':
      return new StsCredentials(() => assumeRole(options), clock);
  }
}

/**
 * Two forms: JSON as STS answers it (AccessKeyId, AccessKeySecret, SecurityToken, Expiration), or lines as in the
 * configuration file of ossutil (`accessKeyID = …`, `accessKeySecret`, `stsToken`).
 */
export function parseOssCredentials(text: string): OssCredentials {
  const values = credentialValues(text, {
    json: {
      accessKeyId: 'AccessKeyId',
      accessKeySecret: 'AccessKeySecret',
      securityToken: 'SecurityToken',
      expiration: 'Expiration',
    },
    lines: { accessKeyId: 'accessKeyID', accessKeySecret: 'accessKeySecret', securityToken: 'stsToken' },
  });
  const { accessKeyId, accessKeySecret, securityToken } = values;
  if (accessKeyId === undefined || accessKeySecret === undefined) {
    throw new StoreError('access-denied', 'it lacks an access key id or an access key secret');
  }
  const expiration = expirationOf(values['expiration']);
  return {
    accessKeyId,
    accessKeySecret,
    ...(securityToken !== undefined && { securityToken }),
    ...(expiration !== undefined && { expiration }),
  };
}
