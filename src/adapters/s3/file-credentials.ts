import { StoreError } from '../../ports/object-store.js';
import { credentialValues, expirationOf } from '../watched-credentials.js';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/**
 * Two forms: the JSON of AWS's `credential_process` (AccessKeyId, SecretAccessKey, SessionToken, Expiration), or lines
 * like those of a shared credentials file (`aws_access_key_id = …`).
 */
export function parseCredentials(text: string): AwsCredentials {
  const values = credentialValues(text, {
    json: {
      accessKeyId: 'AccessKeyId',
      secretAccessKey: 'SecretAccessKey',
      sessionToken: 'SessionToken',
      expiration: 'Expiration',
    },
    lines: {
      accessKeyId: 'aws_access_key_id',
      secretAccessKey: 'aws_secret_access_key',
      sessionToken: 'aws_session_token',
    },
  });
  const { accessKeyId, secretAccessKey, sessionToken } = values;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new StoreError('access-denied', 'it lacks an access key id or a secret access key');
  }
  const expiration = expirationOf(values['expiration']);
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    ...(expiration !== undefined && { expiration }),
  };
}
