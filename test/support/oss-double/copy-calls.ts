import { checkKey, forbidsOverwrite, isoTime, xmlReply, type Call, type Reply } from './call.js';
import { storePart } from './multipart-calls.js';
import { contentHeaders, findObject, preconditionFailed, writtenHeaders } from './object-calls.js';
import { fileAlreadyExists, invalidArgument, OssError } from './oss-error.js';
import { contentOf, objectHeaders, slice, type StoredObject } from './stored-object.js';
import type { Upload } from './upload.js';
import { xmlDocument } from './xml.js';

const maxCopyBytes = 5 * 1024 ** 3;

export function copyObject(call: Call): Reply {
  const { request, bucket, now } = call;
  checkKey(request.key);
  const { object, headers } = sourceOf(call);
  if (object.size > maxCopyBytes) throw entityTooLarge(object.size, maxCopyBytes);
  if (forbidsOverwrite(call) && bucket.current(request.key) !== undefined) throw fileAlreadyExists();
  const replace = request.headers.get('x-oss-metadata-directive') === 'REPLACE';
  const copy: StoredObject = {
    ...object,
    ...(replace ? objectHeaders(request.headers) : {}),
    storageClass: request.headers.get('x-oss-storage-class') ?? object.storageClass,
    type: 'Normal',
    lastModified: now,
  };
  const written = bucket.put(request.key, copy);
  return xmlReply(
    xmlDocument('CopyObjectResult', [
      ['LastModified', isoTime(now)],
      ['ETag', `"${copy.etag}"`],
    ]),
    { ...headers, ...writtenHeaders(written), ...contentHeaders(copy) },
  );
}

export function entityTooLarge(proposed: number, allowed: number): OssError {
  return new OssError(400, 'EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size.', {
    details: { MaxSizeAllowed: String(allowed), ProposedSize: String(proposed) },
  });
}

export function uploadPartCopy(call: Call, target: Upload | undefined): Reply {
  const { object, headers } = sourceOf(call);
  const range = copyRange(call.request.headers.get('x-oss-copy-source-range'), object.size);
  const bytes = Buffer.concat(slice(object.chunks, range.start, range.end));
  const part = storePart(call, target, contentOf(bytes));
  return xmlReply(
    xmlDocument('CopyPartResult', [
      ['LastModified', isoTime(part.lastModified)],
      ['ETag', `"${part.etag}"`],
    ]),
    { ...headers, ...contentHeaders(part) },
  );
}

function copyRange(text: string | undefined, size: number): { start: number; end: number } {
  if (text === undefined) return { start: 0, end: size };
  const match = /^bytes=(\d+)-(\d*)$/.exec(text);
  const start = Number(match?.[1]);
  const last = match?.[2] === '' ? size - 1 : Number(match?.[2]);
  if (match === null || start > last || last >= size) {
    throw invalidArgument(
      'The specified copy range is invalid for the source object.',
      'x-oss-copy-source-range',
      text,
    );
  }
  return { start, end: last + 1 };
}

/** `/bucket/key` or `bucket/key`, encoded, perhaps with `?versionId=`. */
function sourceOf(call: Call): { object: StoredObject; headers: Record<string, string> } {
  const text = call.request.headers.get('x-oss-copy-source') ?? '';
  const match = /^\/?([^/]+)\/([^?]+)(?:\?versionId=(.+))?$/.exec(text);
  if (match === null) throw invalidArgument('The copy source is invalid.', 'x-oss-copy-source', text);
  const [, bucketName = '', key = '', versionId] = match;
  const bucket = call.buckets.get(bucketName);
  if (bucket === undefined) throw noSuchBucket(bucketName);
  const { object, version } = findObject({ bucket }, decodeURIComponent(key), versionId);
  checkSourceConditions(call, object);
  const headers: Record<string, string> =
    bucket.versioning === 'none' ? {} : { 'x-oss-copy-source-version-id': version.versionId };
  return { object, headers };
}

export function noSuchBucket(name: string): OssError {
  return new OssError(404, 'NoSuchBucket', 'The specified bucket does not exist.', {
    ec: '0015-00000101',
    details: {
      BucketName: name,
    },
  });
}

function checkSourceConditions({ request: { headers } }: Call, object: StoredObject): void {
  const matches = (list: string): boolean =>
    list.split(',').some((etag) => etag.trim().replaceAll('"', '') === object.etag);
  const ifMatch = headers.get('x-oss-copy-source-if-match');
  if (ifMatch !== undefined && !matches(ifMatch)) throw preconditionFailed('x-oss-copy-source-if-match');
  const ifNoneMatch = headers.get('x-oss-copy-source-if-none-match');
  if (ifNoneMatch !== undefined && matches(ifNoneMatch))
    throw new OssError(304, 'NotModified', 'Not Modified');
}
