import { OssError } from './oss-error.js';

/** How a client may say which bucket it means; OSS itself takes the first and the last. */
export interface AddressingOptions {
  /** `<bucket>.<host>` is a bucket of this region: `oss-<region>.aliyuncs.com` and its internal and other variants. */
  region: string;
  /** `/<bucket>/<key>` at the endpoint itself or an IP address; OSS refuses it with SecondLevelDomainForbidden. */
  pathStyle: 'allowed' | 'refused';
  /** Domains of users' own that stand for a bucket (CNAME). */
  cnames: ReadonlyMap<string, string>;
}

export interface Address {
  /** Empty for the service itself (ListBuckets). */
  bucket: string;
  /** Decoded; empty when the request is about the bucket. */
  key: string;
  style: 'virtual-host' | 'path' | 'cname';
}

const endpointHost = /^(?:([a-z0-9][a-z0-9-]*)\.)?((?:oss|s3)[a-z0-9-]*(?:\.[a-z0-9-]+)*\.aliyuncs\.com)$/;
const ipAddress = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\])$/;

/** Finds bucket and key from the Host header and the raw path, which `new URL` would change (`..`). */
export function addressOf(host: string, rawPath: string, options: AddressingOptions): Address {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  const path = decodePath(rawPath.replace(/^\//, ''));
  const cname = options.cnames.get(name);
  if (cname !== undefined) return { bucket: cname, key: path, style: 'cname' };
  const match = endpointHost.exec(name);
  if (match !== null) {
    const [, bucket, endpoint = ''] = match;
    requireOwnRegion(endpoint, options.region);
    return bucket === undefined ? pathStyle(path, options) : { bucket, key: path, style: 'virtual-host' };
  }
  const local = /^(?:([a-z0-9][a-z0-9-]*)\.)?localhost$/.exec(name);
  if (local?.[1] !== undefined) return { bucket: local[1], key: path, style: 'virtual-host' };
  if (local !== null || ipAddress.test(name)) return pathStyle(path, options);
  throw new OssError(404, 'NoSuchBucket', `No bucket is bound to the domain ${name}.`, {
    ec: '0015-00000101',
    details: {
      BucketName: name,
    },
  });
}

function pathStyle(path: string, options: AddressingOptions): Address {
  if (path === '') return { bucket: '', key: '', style: 'virtual-host' };
  if (options.pathStyle === 'refused') {
    throw new OssError(
      403,
      'SecondLevelDomainForbidden',
      'The bucket you are attempting to access must be addressed using OSS third level domain.',
    );
  }
  const slash = path.indexOf('/');
  return slash < 0
    ? { bucket: path, key: '', style: 'path' }
    : { bucket: path.slice(0, slash), key: path.slice(slash + 1), style: 'path' };
}

function requireOwnRegion(endpoint: string, region: string): void {
  if (new RegExp(`^(?:oss|s3)\\.?-?${region}(?:-internal|-vpc)?\\.aliyuncs\\.com$`).test(endpoint)) return;
  if (endpoint === 'oss.aliyuncs.com' || endpoint.startsWith('oss-accelerate')) return;
  throw new OssError(
    403,
    'AccessDenied',
    'The bucket you are attempting to access must be addressed using the specified endpoint. Please send all future requests to this endpoint.',
    { ec: '0003-00001403', details: { Endpoint: `oss-${region}.aliyuncs.com` } },
  );
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new OssError(400, 'InvalidObjectName', 'The specified object is not valid.');
  }
}
