import { authenticate } from './authentication.js';
import { Bucket, type Versioning } from './bucket.js';
import { listBuckets, putBucket } from './bucket-calls.js';
import type { Reply } from './call.js';
import { entityTooLarge, noSuchBucket } from './copy-calls.js';
import type { KnownKeys } from './credentials.js';
import { uploadOfPart } from './multipart-calls.js';
import { OssError } from './oss-error.js';
import type { OssRequest } from './oss-request.js';
import { routeOf, type Route } from './routes.js';
import { Throttle, type QpsLimits } from './throttle.js';
import type { Upload } from './upload.js';

export const maxBodyBytes = 5 * 1024 ** 3;

export interface OssServiceOptions {
  region: string;
  keys: KnownKeys;
  signatureVersions: readonly ('v1' | 'v4')[];
  now: () => number;
}

/** What the double knows and does, without HTTP: requests in, replies out. */
export class OssService {
  private readonly buckets = new Map<string, Bucket>();
  private throttle: Throttle;

  constructor(private readonly options: OssServiceOptions) {
    this.throttle = new Throttle({}, options.now);
  }

  createBucket(name: string): void {
    putBucket(name, this.buckets, this.wholeSecond());
  }

  setVersioning(bucket: string, versioning: Versioning): void {
    this.stateOf(bucket).versioning = versioning;
  }

  stateOf(bucket: string): Bucket {
    const found = this.buckets.get(bucket);
    if (found === undefined) throw new Error(`The double of OSS has no bucket ${bucket}.`);
    return found;
  }

  limitQps(limits: QpsLimits): void {
    this.throttle = new Throttle(limits, this.options.now);
  }

  routeOf(request: OssRequest): Route {
    const { method, bucket, key, query } = request;
    if (bucket === '' && method === 'GET') {
      return { kind: 'other', run: () => listBuckets(this.buckets, this.options.region) };
    }
    if (key === '' && method === 'PUT' && (query.entries.length === 0 || query.has('acl'))) {
      return { kind: 'other', run: () => putBucket(bucket, this.buckets, this.wholeSecond()) };
    }
    return routeOf(request);
  }

  /** The upload that a part is meant for, if it is open when the request arrives. */
  uploadOf(request: OssRequest): Upload | undefined {
    const bucket = this.buckets.get(request.bucket);
    return bucket === undefined || !request.query.has('partNumber')
      ? undefined
      : uploadOfPart({ request, bucket });
  }

  /** What is looked at before a request has its effect. */
  check(request: OssRequest): void {
    const { headers, method } = request;
    this.throttle.take(request.key);
    const length = headers.get('content-length');
    if (
      (method === 'PUT' || method === 'POST') &&
      length === undefined &&
      !headers.has('transfer-encoding')
    ) {
      throw new OssError(411, 'MissingContentLength', 'You must provide the Content-Length HTTP header.');
    }
    if (Number(length ?? 0) > maxBodyBytes) throw entityTooLarge(Number(length), maxBodyBytes);
    authenticate(request, this.options);
  }

  run(request: OssRequest, route: Route, upload: Upload | undefined): Reply {
    const [buckets, now] = [this.buckets, this.wholeSecond()];
    const bucket = buckets.get(request.bucket);
    const createsOne = request.method === 'PUT' && request.key === '';
    if (bucket === undefined && request.bucket !== '' && !createsOne) throw noSuchBucket(request.bucket);
    return route.run(
      { request, bucket: bucket ?? new Bucket('', now), buckets, region: this.options.region, now },
      upload,
    );
  }

  /** OSS keeps times to the second. */
  private wholeSecond(): number {
    return Math.floor(this.options.now() / 1000) * 1000;
  }
}
