import { S3RequestPresigner } from '@aws-sdk/s3-request-presigner';
import type { Clock } from '../../ports/clock.js';
import type { SignedRequest, UploadRef } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';
import { encodeKey, encodeQuery } from '../url-encoding.js';
import type { BucketAddresses } from './bucket-addresses.js';
import type { S3Connection } from './s3-connection.js';

const MAX_SECONDS = 900;

/**
 * Signs UploadPart URLs. The SDK's way through all of its middleware takes 0.85 ms a URL, and a task needs one for
 * each part: so its signer alone does it.
 */
export class PartPresigner {
  private readonly signer: S3RequestPresigner;

  constructor(
    private readonly connection: S3Connection,
    private readonly addresses: BucketAddresses,
    private readonly clock: Pick<Clock, 'nowMs'>,
  ) {
    const { credentials, region, sha256 } = connection.client.config;
    this.signer = new S3RequestPresigner({ credentials, region, sha256 });
  }

  async presign(upload: UploadRef, partNumber: number, expiresInSeconds: number): Promise<SignedRequest> {
    const address = await this.addresses.of(upload.bucket);
    const { expiration } = await this.connection.credentials();
    const nowMs = this.clock.nowMs();
    const untilCredentialsEnd = expiration === undefined ? Infinity : (expiration.getTime() - nowMs) / 1_000;
    const seconds = Math.floor(Math.min(expiresInSeconds, MAX_SECONDS, untilCredentialsEnd));
    if (seconds < 1) {
      throw new StoreError('expired-credentials', 'the credentials end before the signed URL could be used');
    }
    // Signed with the store's time as the SDK knows it from answers, so that a skewed clock here doesn't matter.
    const skewMs = this.connection.clockOffsetMs;
    const signed = await this.signer.presign(
      {
        ...address.target,
        method: 'PUT',
        path: `${address.basePath}${encodeKey(upload.key)}`,
        query: { partNumber: String(partNumber), uploadId: upload.uploadId },
        headers: {},
      },
      { expiresIn: seconds, signingDate: new Date(nowMs + skewMs) },
    );
    const url = `${address.origin}${signed.path}${encodeQuery(signed.query ?? {})}`;
    return { method: 'PUT', url, headers: {}, expiresAtMs: nowMs + seconds * 1_000 };
  }
}
