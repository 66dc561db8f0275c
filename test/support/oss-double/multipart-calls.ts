import {
  checkContentMd5,
  checkKey,
  forbidsOverwrite,
  isoTime,
  nameWriter,
  queryNumber,
  xmlReply,
} from './call.js';
import type { Call, Reply } from './call.js';
import { contentHeaders, writtenHeaders } from './object-calls.js';
import { fileAlreadyExists, invalidArgument, malformedXml, noSuchUpload, OssError } from './oss-error.js';
import { contentOf, joinedContent, objectHeaders, type Content } from './stored-object.js';
import { addUpload, findUpload, removeUpload, Upload, type Part } from './upload.js';
import { childText, parseXml, xmlDocument } from './xml.js';

export const maxPartNumber = 10_000;

export function initiateMultipartUpload(call: Call): Reply {
  const { request, bucket, now } = call;
  checkKey(request.key);
  if (forbidsOverwrite(call) && bucket.current(request.key) !== undefined) throw fileAlreadyExists();
  const upload = new Upload(request.key, now, objectHeaders(request.headers));
  addUpload(bucket, upload);
  const { encodingType, write } = nameWriter(request);
  return xmlReply(
    xmlDocument('InitiateMultipartUploadResult', [
      ['EncodingType', encodingType],
      ['Bucket', bucket.name],
      ['Key', write(request.key)],
      ['UploadId', upload.uploadId],
    ]),
  );
}

/** The upload that a part is for, from the moment its request is there: an abort later doesn't stop the part. */
export function uploadOfPart({ request, bucket }: Pick<Call, 'request' | 'bucket'>): Upload | undefined {
  const upload = findUpload(bucket, request.key, request.query.get('uploadId') ?? '');
  return upload?.state === 'open' ? upload : undefined;
}

export function uploadPart(call: Call, target: Upload | undefined): Reply {
  checkContentMd5(call.request);
  const part = storePart(call, target, contentOf(call.request.body));
  return { status: 200, headers: { ...contentHeaders(part), 'Content-MD5': md5Of(part) } };
}

function md5Of({ etag }: Content): string {
  return Buffer.from(etag, 'hex').toString('base64');
}

export function storePart(
  { request, bucket, now }: Call,
  target: Upload | undefined,
  content: Content,
): Part {
  const partNumber = partNumberOf(request.query.get('partNumber'));
  if (target === undefined || target.state === 'completed') {
    throw noSuchUpload(request.query.get('uploadId') ?? '');
  }
  const part = { ...content, partNumber, lastModified: now };
  target.parts.set(partNumber, part);
  if (target.state === 'aborted') addUpload(bucket, target); // in flight when it was aborted
  return part;
}

function partNumberOf(text: string | undefined): number {
  const partNumber = /^\d+$/.test(text ?? '') ? Number(text) : 0;
  if (partNumber >= 1 && partNumber <= maxPartNumber) return partNumber;
  throw invalidArgument('Part number must be an integer between 1 and 10000, inclusive.', 'partNumber', text);
}

export function completeMultipartUpload(call: Call): Reply {
  const { request, bucket, now } = call;
  const uploadId = request.query.get('uploadId') ?? '';
  if (request.headers.has('x-oss-storage-class')) {
    throw invalidArgument('The storage class is set when the upload is initiated.', 'x-oss-storage-class');
  }
  const upload = findUpload(bucket, request.key, uploadId);
  if (upload?.state !== 'open') throw noSuchUpload(uploadId);
  const parts =
    request.headers.get('x-oss-complete-all') === 'yes' ? allParts(call, upload) : listedParts(call, upload);
  const small = parts.slice(0, -1).find(({ size }) => size < bucket.minPartBytes);
  if (small !== undefined) throw entityTooSmall(small, bucket.minPartBytes);
  if (forbidsOverwrite(call) && bucket.current(request.key) !== undefined) throw fileAlreadyExists();
  upload.state = 'completed';
  removeUpload(bucket, upload);
  const content = joinedContent(parts);
  const written = bucket.put(request.key, {
    ...content,
    ...upload.headers,
    type: 'Multipart',
    lastModified: now,
  });
  const { encodingType, write } = nameWriter(request);
  const xml = xmlDocument('CompleteMultipartUploadResult', [
    ['EncodingType', encodingType],
    ['Location', `http://${bucket.name}.oss-${call.region}.aliyuncs.com/${write(request.key)}`],
    ['Bucket', bucket.name],
    ['Key', write(request.key)],
    ['ETag', `"${content.etag}"`],
  ]);
  return xmlReply(xml, { ...writtenHeaders(written), ...contentHeaders(content) });
}

/** With `x-oss-complete-all: yes` the server takes the parts that it has; no list may be sent. */
function allParts({ request }: Call, upload: Upload): Part[] {
  if (request.body.length > 0) {
    throw invalidArgument('The body must be empty with x-oss-complete-all.', 'x-oss-complete-all', 'yes');
  }
  const parts = upload.sortedParts();
  if (parts.length === 0) throw invalidPart(upload, 0, '');
  return parts;
}

function listedParts({ request }: Call, upload: Upload): Part[] {
  const root = parseXml(request.body);
  if (root.name !== 'CompleteMultipartUpload' || root.children.length === 0) throw malformedXml();
  const listed = root.children.map((node) => {
    const number = childText(node, 'PartNumber')?.trim();
    const etag = childText(node, 'ETag')?.trim();
    if (node.name !== 'Part' || number === undefined || etag === undefined) throw malformedXml();
    return { partNumber: partNumberOf(number), etag: etag.replace(/^"(.*)"$/, '$1') };
  });
  if (listed.some(({ partNumber }, i) => i > 0 && partNumber <= listed[i - 1]!.partNumber)) {
    throw new OssError(
      400,
      'InvalidPartOrder',
      'The list of parts was not in ascending order. The parts list must be specified in order by part number.',
    );
  }
  return listed.map(({ partNumber, etag }) => {
    const part = upload.parts.get(partNumber);
    if (part?.etag !== etag) throw invalidPart(upload, partNumber, etag);
    return part;
  });
}

function invalidPart(upload: Upload, partNumber: number, etag: string): OssError {
  return new OssError(
    400,
    'InvalidPart',
    'One or more of the specified parts could not be found or the specified entity tag might not have matched the part entity tag.',
    { details: { PartNumber: String(partNumber), ETag: etag, UploadId: upload.uploadId } },
  );
}

function entityTooSmall({ partNumber, etag, size }: Part, minPartBytes: number): OssError {
  return new OssError(400, 'EntityTooSmall', 'Your proposed upload smaller than the minimum allowed size.', {
    ec: '0042-00000213',
    details: {
      ETag: etag,
      MinSizeAllowed: String(minPartBytes),
      PartNumber: String(partNumber),
      ProposedSize: String(size),
    },
  });
}

export function abortMultipartUpload({ request, bucket }: Call): Reply {
  const uploadId = request.query.get('uploadId') ?? '';
  const upload = findUpload(bucket, request.key, uploadId);
  if (upload === undefined) throw noSuchUpload(uploadId);
  upload.state = 'aborted';
  upload.parts.clear();
  removeUpload(bucket, upload);
  return { status: 204 };
}

export function listParts({ request, bucket }: Call): Reply {
  const uploadId = request.query.get('uploadId') ?? '';
  const upload = findUpload(bucket, request.key, uploadId);
  if (upload === undefined) throw noSuchUpload(uploadId);
  const maxParts = queryNumber(request, 'max-parts', { least: 1, most: 1000, otherwise: 1000 });
  const marker = queryNumber(request, 'part-number-marker', { least: 0, most: Infinity, otherwise: 0 });
  const left = upload.sortedParts().filter(({ partNumber }) => partNumber > marker);
  const page = left.slice(0, maxParts);
  const { encodingType, write } = nameWriter(request);
  return xmlReply(
    xmlDocument('ListPartsResult', [
      ['EncodingType', encodingType],
      ['Bucket', bucket.name],
      ['Key', write(upload.key)],
      ['UploadId', upload.uploadId],
      ['StorageClass', upload.headers.storageClass],
      ['PartNumberMarker', marker],
      ['NextPartNumberMarker', page.at(-1)?.partNumber ?? marker],
      ['MaxParts', maxParts],
      ['IsTruncated', left.length > page.length],
      ...page.map(
        (part) =>
          [
            'Part',
            [
              ['PartNumber', part.partNumber],
              ['LastModified', isoTime(part.lastModified)],
              ['ETag', `"${part.etag}"`],
              ['HashCrc64ecma', String(part.crc64)],
              ['Size', part.size],
            ],
          ] as const,
      ),
    ]),
  );
}
