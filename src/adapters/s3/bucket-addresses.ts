import { UploadPartCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { S3Connection } from './s3-connection.js';

export interface BucketAddress {
  readonly origin: string;
  /** Host and port, as the header says it. */
  readonly host: string;
  /** Ends in `/`. */
  readonly basePath: string;
  readonly target: { readonly protocol: string; readonly hostname: string; readonly port?: number };
}

/** Where buckets are. The SDK's endpoint rules are asked once a bucket, since its way through all of its middleware costs a millisecond. */
export class BucketAddresses {
  private readonly known = new Map<string, Promise<BucketAddress>>();

  constructor(private readonly connection: S3Connection) {}

  of(bucket: string): Promise<BucketAddress> {
    const known = this.known.get(bucket);
    if (known !== undefined) return known;
    const asked = this.askSdk(bucket);
    this.known.set(bucket, asked);
    asked.catch(() => this.known.delete(bucket));
    return asked;
  }

  /** Region, partition, path style, dots in a bucket's name, …: the SDK knows, and shows it in a URL of its own. */
  private async askSdk(bucket: string): Promise<BucketAddress> {
    const command = new UploadPartCommand({ Bucket: bucket, Key: 'k', UploadId: 'u', PartNumber: 1 });
    const url = new URL(await getSignedUrl(this.connection.client, command, { expiresIn: 60 }));
    return {
      origin: url.origin,
      host: url.host,
      basePath: url.pathname.slice(0, -1),
      target: {
        protocol: url.protocol,
        hostname: url.hostname,
        ...(url.port !== '' && { port: Number(url.port) }),
      },
    };
  }
}
