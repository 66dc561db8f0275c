import { isIP } from 'node:net';
import type OSS from 'ali-oss';
import { endpointOf, type OssStoreOptions } from './oss-options.js';

export interface OssAddress {
  readonly origin: string;
  /** Ends in `/`. */
  readonly basePath: string;
  /** Where the Host header isn't that of the origin. */
  readonly host?: string;
}

/** Where buckets are: ali-oss knows, and is asked once a bucket. */
export class OssAddresses {
  private readonly known = new Map<string, OssAddress>();

  constructor(
    private readonly client: Pick<OSS, '_getReqUrl'>,
    private readonly options: OssStoreOptions,
  ) {}

  of(bucket: string): OssAddress {
    const known = this.known.get(bucket);
    if (known !== undefined) return known;
    const { region, internal = false } = this.options;
    const { origin, hostname, pathname } = new URL(this.client._getReqUrl({ bucket }));
    const isNumeric = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
    const address = {
      ...{ origin, basePath: pathname },
      // An IP address has no subdomains, so that the bucket is named in this header alone.
      ...(isNumeric && (this.options.addressing ?? 'virtual-host') === 'virtual-host'
        ? { host: `${bucket}.${new URL(endpointOf({ region, internal })).host}` }
        : {}),
    };
    this.known.set(bucket, address);
    return address;
  }
}
