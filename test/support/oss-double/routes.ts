import type { RequestKind } from '../observer/index.js';
import * as buckets from './bucket-calls.js';
import type { Call, Reply } from './call.js';
import { copyObject, uploadPartCopy } from './copy-calls.js';
import * as listings from './listing-calls.js';
import * as multipart from './multipart-calls.js';
import * as objects from './object-calls.js';
import { notImplemented, OssError } from './oss-error.js';
import type { OssRequest } from './oss-request.js';
import type { Upload } from './upload.js';

/** What a request asks for: its kind for counting, and who answers it. */
export interface Route {
  kind: RequestKind;
  /** `upload`: of a part, as found when the request began. */
  run: (call: Call, upload: Upload | undefined) => Reply;
}

const route = (kind: RequestKind, run: Route['run']): Route => ({ kind, run });

/** Sub-resources of objects and buckets that this double answers. */
const objectSubresources = ['uploads', 'uploadId', 'partNumber', 'objectMeta', 'versionId'];
const bucketSubresources = [
  'acl',
  'bucketInfo',
  'delete',
  'lifecycle',
  'location',
  'uploads',
  'versioning',
  'versions',
];
const otherSubresources = [
  'append',
  'asyncFetch',
  'callback',
  'cors',
  'encryption',
  'inventory',
  'live',
  'logging',
  'policy',
  'referer',
  'replication',
  'requestPayment',
  'restore',
  'sequential',
  'stat',
  'symlink',
  'tagging',
  'website',
  'worm',
  'x-oss-process',
];

/** Never fails: what isn't there is a route that refuses. */
export function routeOf(request: OssRequest): Route {
  if (request.bucket === '') return route('other', () => refuse(request));
  const known = request.key === '' ? bucketSubresources : objectSubresources;
  const unknown = [...otherSubresources, ...bucketSubresources].find(
    (name) => !known.includes(name) && request.query.has(name),
  );
  if (unknown !== undefined) {
    return route('other', () => {
      throw notImplemented(`?${unknown}`);
    });
  }
  return (
    (request.key === '' ? bucketRoute(request) : objectRoute(request)) ??
    route('other', () => refuse(request))
  );
}

function objectRoute({ method, query, headers }: OssRequest): Route | undefined {
  const ofUpload = query.has('uploadId');
  switch (method) {
    case 'GET':
      if (ofUpload) return route('list_parts', multipart.listParts);
      return route('get', query.has('objectMeta') ? objects.getObjectMeta : objects.getObject);
    case 'HEAD':
      return route('head', query.has('objectMeta') ? objects.getObjectMeta : objects.getObject);
    case 'PUT':
      if (headers.has('x-oss-copy-source')) return route('copy', ofUpload ? uploadPartCopy : copyObject);
      return ofUpload ? route('part', multipart.uploadPart) : route('put', objects.putObject);
    case 'POST':
      if (query.has('uploads')) return route('initiate', multipart.initiateMultipartUpload);
      return ofUpload ? route('complete', multipart.completeMultipartUpload) : undefined;
    case 'DELETE':
      return ofUpload
        ? route('abort', multipart.abortMultipartUpload)
        : route('delete', objects.deleteObject);
    default:
      return undefined;
  }
}

function bucketRoute({ method, query }: OssRequest): Route | undefined {
  const subresource = bucketSubresources.find((name) => query.has(name)) ?? '';
  switch (`${method} ${subresource}`) {
    case 'GET ':
      return route('list', listings.listObjects);
    case 'GET uploads':
      return route('list_uploads', listings.listMultipartUploads);
    case 'GET versions':
      return route('list', listings.listObjectVersions);
    case 'POST delete':
      return route('delete_many', buckets.deleteMultipleObjects);
    case 'DELETE ':
      return route('other', buckets.deleteBucket);
    case 'GET acl':
      return route('other', buckets.getBucketAcl);
    case 'GET bucketInfo':
      return route('other', buckets.getBucketInfo);
    case 'GET location':
      return route('other', buckets.getBucketLocation);
    case 'GET versioning':
      return route('other', buckets.getBucketVersioning);
    case 'PUT versioning':
      return route('other', buckets.putBucketVersioning);
    case 'GET lifecycle':
      return route('other', buckets.getBucketLifecycle);
    case 'PUT lifecycle':
      return route('other', buckets.putBucketLifecycle);
    case 'DELETE lifecycle':
      return route('other', buckets.deleteBucketLifecycle);
    default:
      return undefined;
  }
}

function refuse({ method }: OssRequest): never {
  throw new OssError(405, 'MethodNotAllowed', 'The specified method is not allowed against this resource.', {
    details: { Method: method },
  });
}
