import type {
  CallOptions,
  ListPageOptions,
  ObjectPage,
  PartPage,
  PartPageOptions,
  UploadPage,
  UploadPageOptions,
  UploadRef,
} from '../../ports/object-store.js';
import { decodeContinuation, encodeContinuation } from '../continuation.js';
import { decodeKey } from '../decode-key.js';
import { children, dateOf, numberOf, optionalText, textOf } from './oss-answers.js';
import type { OssConnection } from './oss-connection.js';

/** One page a call. Keys come encoded, since XML can't hold all that a key can. */

const ENCODING = 'url';
/** OSS itself gives 100 objects a page unless it is asked for more. */
const MAX_PAGE = 1_000;

export async function listObjects(
  connection: OssConnection,
  bucket: string,
  prefix: string,
  page: ListPageOptions,
  call: CallOptions | undefined,
): Promise<ObjectPage> {
  const { continuation, startAfter, maxKeys, delimiter } = page;
  const answer = await connection.sendForXml(
    {
      method: 'GET',
      bucket,
      // Of the parameters of a listing the signature V1 covers this one only.
      ...(continuation === undefined ? {} : { subresources: { 'continuation-token': continuation } }),
      query: {
        ...{ 'list-type': '2', 'encoding-type': ENCODING, prefix, delimiter },
        'max-keys': String(maxKeys ?? MAX_PAGE),
        'start-after': continuation === undefined ? startAfter : undefined,
      },
    },
    call?.signal,
  );
  const encoding = optionalText(answer, 'EncodingType');
  const objects = children(answer, 'Contents').map((object) => ({
    key: decodeKey(textOf(object, 'Key'), encoding),
    etag: textOf(object, 'ETag'),
    sizeBytes: numberOf(textOf(object, 'Size'), 'Size'),
    lastModifiedMs: dateOf(textOf(object, 'LastModified'), 'LastModified'),
  }));
  const prefixes = children(answer, 'CommonPrefixes').map((folded) =>
    decodeKey(textOf(folded, 'Prefix'), encoding),
  );
  if (!isTruncated(answer)) return { objects, prefixes };
  return { objects, prefixes, next: textOf(answer, 'NextContinuationToken') };
}

export async function listUploads(
  connection: OssConnection,
  bucket: string,
  prefix: string,
  { continuation, maxUploads }: UploadPageOptions,
  call: CallOptions | undefined,
): Promise<UploadPage> {
  const [keyMarker, uploadIdMarker] = continuation === undefined ? [] : decodeContinuation(continuation);
  const answer = await connection.sendForXml(
    {
      method: 'GET',
      bucket,
      subresources: { uploads: '' },
      query: {
        ...{ 'encoding-type': ENCODING, prefix },
        'max-uploads': String(maxUploads ?? MAX_PAGE),
        'key-marker': keyMarker,
        'upload-id-marker': uploadIdMarker,
      },
    },
    call?.signal,
  );
  const encoding = optionalText(answer, 'EncodingType');
  const uploads = children(answer, 'Upload').map((upload) => ({
    key: decodeKey(textOf(upload, 'Key'), encoding),
    uploadId: textOf(upload, 'UploadId'),
    initiatedMs: dateOf(textOf(upload, 'Initiated'), 'Initiated'),
  }));
  if (!isTruncated(answer)) return { uploads };
  const nextKey = decodeKey(textOf(answer, 'NextKeyMarker'), encoding);
  return { uploads, next: encodeContinuation([nextKey, optionalText(answer, 'NextUploadIdMarker') ?? '']) };
}

export async function listParts(
  connection: OssConnection,
  { bucket, key, uploadId }: UploadRef,
  { continuation, maxParts }: PartPageOptions,
  call: CallOptions | undefined,
): Promise<PartPage> {
  const answer = await connection.sendForXml(
    {
      ...{ method: 'GET', bucket, key },
      subresources: { uploadId },
      query: {
        'max-parts': String(maxParts ?? MAX_PAGE),
        'part-number-marker': continuation,
      },
    },
    call?.signal,
  );
  const parts = children(answer, 'Part').map((part) => ({
    partNumber: numberOf(textOf(part, 'PartNumber'), 'PartNumber'),
    etag: textOf(part, 'ETag'),
    sizeBytes: numberOf(textOf(part, 'Size'), 'Size'),
  }));
  if (!isTruncated(answer)) return { parts };
  return { parts, next: textOf(answer, 'NextPartNumberMarker') };
}

function isTruncated(answer: Readonly<Record<string, unknown>>): boolean {
  return textOf(answer, 'IsTruncated') === 'true';
}
