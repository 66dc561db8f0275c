import type { Version } from './bucket.js';
import { isoTime, nameWriter, owner, queryNumber, xmlReply, type Call, type Reply } from './call.js';
import { invalidArgument } from './oss-error.js';
import { pageOf, type PageItem } from './page.js';
import type { StoredObject } from './stored-object.js';
import type { Upload } from './upload.js';
import { xmlDocument, type XmlElement } from './xml.js';

/** GET of a bucket, versions 1 and 2. */
export function listObjects(call: Call): Reply {
  const { request, bucket } = call;
  const { query } = request;
  const isV2 = query.get('list-type') === '2';
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const limit = queryNumber(request, 'max-keys', { least: 1, most: 1000, otherwise: 100 });
  const given = isV2 ? query.get('continuation-token') : undefined;
  const token = given === '' ? undefined : given; // some clients send it empty
  const startAfter = query.get('start-after') ?? '';
  const after = isV2 ? (token === undefined ? startAfter : readToken(token)) : (query.get('marker') ?? '');
  const { items, truncated } = pageOf(currentObjects(call), {
    prefix,
    delimiter,
    after,
    skip: (name) => name === after,
    limit,
  });
  const { encodingType, write } = nameWriter(request);
  const next = truncated ? nameOf(items.at(-1)!) : undefined;
  const position: XmlElement[] = isV2
    ? [
        ['StartAfter', query.has('start-after') ? write(startAfter) : undefined],
        ['ContinuationToken', token],
        ['KeyCount', items.length],
        ['NextContinuationToken', next === undefined ? undefined : writeToken(next)],
      ]
    : [
        ['Marker', write(after)],
        ['NextMarker', next === undefined ? undefined : write(next)],
      ];
  const withOwner = !isV2 || query.get('fetch-owner') === 'true';
  return xmlReply(
    xmlDocument('ListBucketResult', [
      ['Name', bucket.name],
      ['Prefix', write(prefix)],
      ['MaxKeys', limit],
      ['Delimiter', write(delimiter)],
      ['EncodingType', encodingType],
      ['IsTruncated', truncated],
      ...position,
      ...items.map((item): XmlElement =>
        'commonPrefix' in item
          ? ['CommonPrefixes', [['Prefix', write(item.commonPrefix)]]]
          : [
              'Contents',
              [['Key', write(item.name)], ...objectElements(item.value), ...(withOwner ? [owner] : [])],
            ],
      ),
    ]),
  );
}

function currentObjects({ bucket }: Call): (from: string) => Iterable<readonly [string, StoredObject]> {
  return function* (from) {
    for (const [key, versions] of bucket.versions.entriesFrom(from)) {
      const object = versions.at(-1)?.object;
      if (object !== undefined) yield [key, object];
    }
  };
}

function objectElements(object: StoredObject): XmlElement[] {
  return [
    ['LastModified', isoTime(object.lastModified)],
    ['ETag', `"${object.etag}"`],
    ['Type', object.type],
    ['Size', object.size],
    ['StorageClass', object.storageClass],
  ];
}

/** Opaque to clients; letters and digits only, since not every client encodes it or decodes it. */
function writeToken(name: string): string {
  return Buffer.from(name).toString('hex');
}

function readToken(token: string): string {
  if (/^(?:[0-9a-f]{2})*$/.test(token)) return Buffer.from(token, 'hex').toString();
  throw invalidArgument('The continuation-token is invalid.', 'continuation-token', token);
}

function nameOf<V>(item: PageItem<V>): string {
  return 'commonPrefix' in item ? item.commonPrefix : item.name;
}

/** GET of a bucket with ?uploads: sorted by key, then by upload id. */
export function listMultipartUploads({ request, bucket }: Call): Reply {
  const { query } = request;
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const keyMarker = query.get('key-marker') ?? '';
  // Without a key marker, one for ids means nothing.
  const idMarker = keyMarker === '' ? '' : (query.get('upload-id-marker') ?? '');
  const limit = queryNumber(request, 'max-uploads', { least: 1, most: 1000, otherwise: 1000 });
  const walk = function* (from: string): Generator<readonly [string, Upload]> {
    for (const [key, uploads] of bucket.uploads.entriesFrom(from)) {
      const ids = uploads.entriesFrom(key === keyMarker ? idMarker : '');
      for (const [, upload] of ids) yield [key, upload];
    }
  };
  const { items, truncated } = pageOf(walk, {
    prefix,
    delimiter,
    after: keyMarker,
    skip: (key, { uploadId }) => key === keyMarker && (idMarker === '' || uploadId === idMarker),
    limit,
  });
  const last = items.at(-1);
  const { encodingType, write } = nameWriter(request);
  return xmlReply(
    xmlDocument('ListMultipartUploadsResult', [
      ['EncodingType', encodingType],
      ['Bucket', bucket.name],
      ['KeyMarker', write(keyMarker)],
      ['UploadIdMarker', idMarker],
      ['NextKeyMarker', truncated && last !== undefined ? write(nameOf(last)) : ''],
      ['NextUploadIdMarker', truncated && last !== undefined && 'value' in last ? last.value.uploadId : ''],
      ['Delimiter', write(delimiter)],
      ['Prefix', write(prefix)],
      ['MaxUploads', limit],
      ['IsTruncated', truncated],
      ...items.map((item): XmlElement =>
        'commonPrefix' in item
          ? ['CommonPrefixes', [['Prefix', write(item.commonPrefix)]]]
          : [
              'Upload',
              [
                ['Key', write(item.name)],
                ['UploadId', item.value.uploadId],
                ['StorageClass', item.value.headers.storageClass],
                ['Initiated', isoTime(item.value.initiatedAt)],
              ],
            ],
      ),
    ]),
  );
}

/** GET of a bucket with ?versions: each key's versions from new to old. */
export function listObjectVersions({ request, bucket }: Call): Reply {
  const { query } = request;
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const keyMarker = query.get('key-marker') ?? '';
  const idMarker = keyMarker === '' ? '' : (query.get('version-id-marker') ?? '');
  const limit = queryNumber(request, 'max-keys', { least: 1, most: 1000, otherwise: 100 });
  const walk = function* (from: string): Generator<readonly [string, Version & { isLatest: boolean }]> {
    for (const [key, versions] of bucket.versions.entriesFrom(from)) {
      let listed = key !== keyMarker;
      for (let i = versions.length - 1; i >= 0; i--) {
        const version = versions[i]!;
        if (listed) yield [key, { ...version, isLatest: i === versions.length - 1 }];
        if (version.versionId === idMarker) listed = true;
      }
    }
  };
  const { items, truncated } = pageOf(walk, {
    prefix,
    delimiter,
    after: keyMarker,
    skip: () => false,
    limit,
  });
  const last = items.at(-1);
  const { encodingType, write } = nameWriter(request);
  return xmlReply(
    xmlDocument('ListVersionsResult', [
      ['Name', bucket.name],
      ['Prefix', write(prefix)],
      ['KeyMarker', write(keyMarker)],
      ['VersionIdMarker', idMarker],
      ['MaxKeys', limit],
      ['Delimiter', write(delimiter)],
      ['EncodingType', encodingType],
      ['IsTruncated', truncated],
      ['NextKeyMarker', truncated && last !== undefined ? write(nameOf(last)) : undefined],
      [
        'NextVersionIdMarker',
        truncated && last !== undefined && 'value' in last ? last.value.versionId : undefined,
      ],
      ...items.map((item): XmlElement => {
        if ('commonPrefix' in item) return ['CommonPrefixes', [['Prefix', write(item.commonPrefix)]]];
        const { versionId, isLatest, object, lastModified } = item.value;
        const head: XmlElement[] = [
          ['Key', write(item.name)],
          ['VersionId', versionId],
          ['IsLatest', isLatest],
        ];
        return object === undefined
          ? ['DeleteMarker', [...head, ['LastModified', isoTime(lastModified)], owner]]
          : ['Version', [...head, ...objectElements(object), owner]];
      }),
    ]),
  );
}
