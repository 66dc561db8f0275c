import type { Version, Written } from './bucket.js';
import { checkContentMd5, checkKey, forbidsOverwrite, gmtTime, type Call, type Reply } from './call.js';
import { fileAlreadyExists, noSuchKey, OssError } from './oss-error.js';
import { contentOf, objectHeaders, slice, type StoredObject } from './stored-object.js';

export function putObject(call: Call): Reply {
  const { request, bucket, now } = call;
  checkKey(request.key);
  checkContentMd5(request);
  if (forbidsOverwrite(call) && bucket.current(request.key) !== undefined) throw fileAlreadyExists();
  const object: StoredObject = {
    ...contentOf(request.body),
    ...objectHeaders(request.headers),
    type: 'Normal',
    lastModified: now,
  };
  const written = bucket.put(request.key, object);
  return {
    status: 200,
    headers: { ...writtenHeaders(written), ...contentHeaders(object), 'Content-MD5': md5Of(object) },
  };
}

function md5Of({ etag }: StoredObject): string {
  return Buffer.from(etag, 'hex').toString('base64');
}

export function contentHeaders({
  etag,
  crc64,
}: Pick<StoredObject, 'etag' | 'crc64'>): Record<string, string> {
  return { ETag: `"${etag}"`, 'x-oss-hash-crc64ecma': String(crc64) };
}

export function writtenHeaders({ versionId, deleteMarker }: Written): Record<string, string> {
  return {
    ...(versionId === undefined ? {} : { 'x-oss-version-id': versionId }),
    ...(deleteMarker === true ? { 'x-oss-delete-marker': 'true' } : {}),
  };
}

/** GET and HEAD; the server leaves the body of HEAD out. */
export function getObject(call: Call): Reply {
  const { request, bucket } = call;
  const { version, object } = findObject(call, request.key, request.query.get('versionId'));
  const versionHeader = bucket.versioning === 'none' ? {} : { 'x-oss-version-id': version.versionId };
  checkConditions(request.headers, object);
  const range = rangeOf(request.headers, object.size);
  return {
    status: range === undefined ? 200 : 206,
    headers: {
      ...object.entries,
      ...contentHeaders(object),
      ...versionHeader,
      ...responseOverrides(call),
      'Last-Modified': gmtTime(object.lastModified),
      'Accept-Ranges': 'bytes',
      'x-oss-object-type': object.type,
      'x-oss-storage-class': object.storageClass,
      ...(range === undefined
        ? {}
        : { 'Content-Range': `bytes ${range.start}-${range.end - 1}/${object.size}` }),
    },
    body: range === undefined ? object.chunks : slice(object.chunks, range.start, range.end),
  };
}

/** GET ?objectMeta and its HEAD: the little that doesn't need the object read. */
export function getObjectMeta(call: Call): Reply {
  const { version, object } = findObject(call, call.request.key, call.request.query.get('versionId'));
  return {
    status: 200,
    headers: {
      ...contentHeaders(object),
      ...(call.bucket.versioning === 'none' ? {} : { 'x-oss-version-id': version.versionId }),
      'Last-Modified': gmtTime(object.lastModified),
      'Content-Length': String(object.size),
    },
  };
}

export function deleteObject({ request, bucket, now }: Call): Reply {
  const versionId = request.query.get('versionId');
  const written =
    versionId === undefined ? bucket.delete(request.key, now) : bucket.deleteVersion(request.key, versionId);
  return { status: 204, headers: writtenHeaders(written) };
}

/** The version that a read means; throws the error that it then gets. */
export function findObject(
  { bucket }: Pick<Call, 'bucket'>,
  key: string,
  versionId: string | undefined,
): { version: Version; object: StoredObject } {
  const version = versionId === undefined ? bucket.latest(key) : bucket.version(key, versionId);
  if (version?.object !== undefined) return { version, object: version.object };
  if (version === undefined) {
    if (versionId === undefined) throw noSuchKey(key);
    throw new OssError(404, 'NoSuchVersion', 'The specified version does not exist.', {
      details: {
        Key: key,
        VersionId: versionId,
      },
    });
  }
  const headers = { 'x-oss-delete-marker': 'true', 'x-oss-version-id': version.versionId };
  if (versionId === undefined) throw noSuchKey(key, headers);
  throw new OssError(405, 'MethodNotAllowed', 'The specified method is not allowed against this resource.', {
    details: { Method: 'GET', ResourceType: 'DeleteMarker' },
    headers: { ...headers, Allow: 'DELETE' },
  });
}

function checkConditions(headers: ReadonlyMap<string, string>, object: StoredObject): void {
  const matches = (list: string): boolean =>
    list.split(',').some((etag) => etag.trim().replaceAll('"', '') === object.etag);
  const ifMatch = headers.get('if-match');
  if (ifMatch !== undefined && !matches(ifMatch)) throw preconditionFailed('If-Match');
  const unmodifiedSince = timeHeader(headers, 'if-unmodified-since');
  if (unmodifiedSince !== undefined && object.lastModified > unmodifiedSince) {
    throw preconditionFailed('If-Unmodified-Since');
  }
  const ifNoneMatch = headers.get('if-none-match');
  const modifiedSince = timeHeader(headers, 'if-modified-since');
  const notModified =
    ifNoneMatch === undefined
      ? modifiedSince !== undefined && object.lastModified <= modifiedSince
      : matches(ifNoneMatch);
  if (notModified) {
    throw new OssError(304, 'NotModified', 'Not Modified', { headers: { ETag: `"${object.etag}"` } });
  }
}

export function preconditionFailed(condition: string): OssError {
  return new OssError(
    412,
    'PreconditionFailed',
    'At least one of the pre-conditions you specified did not hold.',
    { details: { Condition: condition } },
  );
}

function timeHeader(headers: ReadonlyMap<string, string>, name: string): number | undefined {
  const time = Date.parse(headers.get(name) ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/**
 * A range that isn't wholly within the object is ignored, and all bytes come with a 200; with
 * `x-oss-range-behavior: standard` it is cut, or refused.
 */
function rangeOf(
  headers: ReadonlyMap<string, string>,
  size: number,
): { start: number; end: number } | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(headers.get('range') ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (first === '' && last === '') return undefined;
  const standard = headers.get('x-oss-range-behavior') === 'standard';
  if (first === '') {
    const length = Number(last);
    if (length > 0 && length <= size) return { start: size - length, end: size };
    if (standard && length > 0 && size > 0) return { start: 0, end: size };
    return standard ? refuseRange(headers, size) : undefined;
  }
  const start = Number(first);
  const end = last === '' ? size : Number(last) + 1;
  if (start < end && end <= size) return { start, end };
  if (!standard || start >= end) return undefined;
  return start < size ? { start, end: size } : refuseRange(headers, size);
}

function refuseRange(headers: ReadonlyMap<string, string>, size: number): never {
  throw new OssError(416, 'InvalidRange', 'The requested range cannot be satisfied', {
    details: { ActualObjectSize: String(size), RangeRequested: headers.get('range') ?? '' },
    headers: { 'Content-Range': `bytes */${size}` },
  });
}

/** `response-content-type` and the like in the query. */
function responseOverrides({ request }: Call): Record<string, string> {
  return Object.fromEntries(
    request.query.entries
      .filter(([name]) => name.startsWith('response-'))
      .map(([name, value]) => [name.slice('response-'.length), value]),
  );
}
