import { UploadPartCommand } from '@aws-sdk/client-s3';
import { S3RequestPresigner, getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Clock } from '../../ports/clock.js';
import type { SignedRequest, UploadRef } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';
import type { S3Connection } from './s3-connection.js';

const MAX_SECONDS = 900;

/**
 * Signs UploadPart URLs. The SDK's way through all of its middleware takes 0.85 ms a URL, and a task needs one for
 * each part: so its endpoint rules are asked once a bucket, and its signer alone does the rest.
 */
export class PartPresigner {
  private readonly origins = new Map<string, Promise<BucketAddress>>();
  private readonly signer: S3RequestPresigner;

  constructor(
    private readonly connection: S3Connection,
    private readonly clock: Pick<Clock, 'nowMs'>,
  ) {
    const { credentials, region, sha256 } = connection.client.config;
    this.signer = new S3RequestPresigner({ credentials, region, sha256 });
  }

  async presign(upload: UploadRef, partNumber: number, expiresInSeconds: number): Promise<SignedRequest> {
    const address = await this.addressOf(upload.bucket);
    const { expiration } = await this.connection.credentials();
    const nowMs = this.clock.nowMs();
    const untilCredentialsEnd = expiration === undefined ? Infinity : (expiration.getTime() - nowMs) / 1_000;
    const seconds = Math.floor(Math.min(expiresInSeconds, MAX_SECONDS, untilCredentialsEnd));
    if (seconds < 1) {
      throw new StoreError('expired-credentials', 'the credentials end before the signed URL could be used');
    }
    // Signed with the store's time as the SDK knows it from answers, so that a skewed clock here doesn't matter.
    const skewMs = this.connection.client.config.systemClockOffset;
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
    const url = `${address.origin}${signed.path}?${encodeQuery(signed.query ?? {})}`;
    return { method: 'PUT', url, headers: {}, expiresAtMs: nowMs + seconds * 1_000 };
  }

  private addressOf(bucket: string): Promise<BucketAddress> {
    const known = this.origins.get(bucket);
    if (known !== undefined) return known;
    const asked = this.askSdk(bucket);
    this.origins.set(bucket, asked);
    asked.catch(() => this.origins.delete(bucket));
    return asked;
  }

  /** Region, partition, path style, dots in a bucket's name, …: the SDK knows, and shows it in a URL of its own. */
  private async askSdk(bucket: string): Promise<BucketAddress> {
    const command = new UploadPartCommand({ Bucket: bucket, Key: 'k', UploadId: 'u', PartNumber: 1 });
    const url = new URL(await getSignedUrl(this.connection.client, command, { expiresIn: 60 }));
    return {
      origin: url.origin,
      basePath: url.pathname.slice(0, -1),
      target: {
        protocol: url.protocol,
        hostname: url.hostname,
        ...(url.port !== '' && { port: Number(url.port) }),
      },
    };
  }
}

interface BucketAddress {
  readonly origin: string;
  /** Ends in `/`. */
  readonly basePath: string;
  readonly target: { readonly protocol: string; readonly hostname: string; readonly port?: number };
}

function encodeKey(key: string): string {
  return key.split('/').map(encodeRfc3986).join('/');
}

function encodeQuery(query: Readonly<Record<string, string | string[] | null>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(String(value))}`)
    .join('&');
}

/** As signatures want it: everything but letters, digits and `-._~`. */
function encodeRfc3986(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
