import type { IncomingHttpHeaders } from 'node:http';

/** The kinds that requests to a store are counted by; `other` is what concerns buckets, ACLs, tags and the like. */
export const requestKinds = [
  'initiate',
  'part',
  'complete',
  'abort',
  'put',
  'get',
  'head',
  'list',
  'list_uploads',
  'list_parts',
  'delete',
  'delete_many',
  'copy',
  'other',
] as const;

export type RequestKind = (typeof requestKinds)[number];

export interface ClassifiedRequest {
  kind: RequestKind;
  bucket: string;
  /** Decoded; empty when the request is about the bucket. */
  key: string;
  uploadId?: string;
  partNumber?: number;
  /** Of `list` and `list_uploads`. */
  prefix?: string;
}

/** Sub-resources that make a request one of `other`, whatever its method. */
const otherSubresources = [
  'accelerate',
  'acl',
  'attributes',
  'analytics',
  'cors',
  'encryption',
  'intelligent-tiering',
  'inventory',
  'legal-hold',
  'lifecycle',
  'location',
  'logging',
  'metrics',
  'notification',
  'object-lock',
  'ownershipControls',
  'policy',
  'policyStatus',
  'publicAccessBlock',
  'replication',
  'requestPayment',
  'restore',
  'retention',
  'select',
  'session',
  'tagging',
  'torrent',
  'versioning',
  'website',
];

/** Tells what a path-style request to S3 or OSS asks for, from its request line and headers alone. */
export function classifyRequest(
  method: string,
  target: string,
  headers: IncomingHttpHeaders,
): ClassifiedRequest {
  const { bucket, key, query } = parseTarget(target);
  const uploadId = query.get('uploadId') ?? undefined;
  const partNumber = query.has('partNumber') ? Number(query.get('partNumber')) : undefined;
  const kind = kindOf(method, bucket, key, query, headers);
  const isListing = kind === 'list' || kind === 'list_uploads';
  return {
    kind,
    bucket,
    key,
    ...(uploadId === undefined ? {} : { uploadId }),
    ...(partNumber === undefined ? {} : { partNumber }),
    ...(isListing ? { prefix: query.get('prefix') ?? '' } : {}),
  };
}

function kindOf(
  method: string,
  bucket: string,
  key: string,
  query: URLSearchParams,
  headers: IncomingHttpHeaders,
): RequestKind {
  if (bucket === '' || otherSubresources.some((name) => query.has(name))) return 'other';
  return key === '' ? bucketKind(method, query) : objectKind(method, query, headers);
}

function bucketKind(method: string, query: URLSearchParams): RequestKind {
  if (method === 'GET') return query.has('uploads') ? 'list_uploads' : 'list';
  if (method === 'POST' && query.has('delete')) return 'delete_many';
  return 'other';
}

function objectKind(method: string, query: URLSearchParams, headers: IncomingHttpHeaders): RequestKind {
  const ofUpload = query.has('uploadId');
  switch (method) {
    case 'GET':
      return ofUpload ? 'list_parts' : 'get';
    case 'HEAD':
      return 'head';
    case 'PUT':
      // Of an object or into a part.
      if (headers['x-amz-copy-source'] !== undefined || headers['x-oss-copy-source'] !== undefined)
        return 'copy';
      return ofUpload ? 'part' : 'put';
    case 'POST':
      if (query.has('uploads')) return 'initiate';
      return ofUpload ? 'complete' : 'other';
    case 'DELETE':
      return ofUpload ? 'abort' : 'delete';
    default:
      return 'other';
  }
}

/** Splits a request target by hand: `new URL` would fold `.` and `..`, which are legal in keys. */
function parseTarget(target: string): { bucket: string; key: string; query: URLSearchParams } {
  const origin = /^https?:\/\/[^/?]*/i.exec(target)?.[0] ?? '';
  const rest = target.slice(origin.length);
  const mark = rest.indexOf('?');
  const path = mark < 0 ? rest : rest.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : rest.slice(mark + 1));
  const trimmed = path.startsWith('/') ? path.slice(1) : path;
  const slash = trimmed.indexOf('/');
  return {
    bucket: decode(slash < 0 ? trimmed : trimmed.slice(0, slash)),
    key: slash < 0 ? '' : decode(trimmed.slice(slash + 1)),
    query,
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
