import { Bucket, type Versioning } from './bucket.js';
import { checkContentMd5, isoTime, nameWriter, owner, xmlReply, type Call, type Reply } from './call.js';
import { malformedXml, OssError } from './oss-error.js';
import { childText, parseXml, xmlDocument, type XmlElement } from './xml.js';

const maxDeletedKeys = 1000;

/** POST of a bucket with ?delete. Quiet: only what could not be deleted is answered, and here all can. */
export function deleteMultipleObjects(call: Call): Reply {
  const { request, bucket, now } = call;
  if (!request.headers.has('content-md5')) {
    throw new OssError(400, 'MissingArgument', 'Missing Some Required Arguments.', {
      ec: '0016-00000502',
      details: {
        ArgumentName: 'Content-MD5',
      },
    });
  }
  checkContentMd5(request);
  const root = parseXml(request.body);
  const nodes = root.children.filter(({ name }) => name === 'Object');
  if (root.name !== 'Delete' || nodes.length === 0 || nodes.length > maxDeletedKeys) throw malformedXml();
  const { encodingType, write } = nameWriter(request);
  const deleted = nodes.map((node): XmlElement => {
    const key = childText(node, 'Key');
    if (key === undefined) throw malformedXml();
    const versionId = childText(node, 'VersionId');
    const written = versionId === undefined ? bucket.delete(key, now) : bucket.deleteVersion(key, versionId);
    return [
      'Deleted',
      [
        ['Key', write(key)],
        ['VersionId', versionId],
        ['DeleteMarker', written.deleteMarker],
        ['DeleteMarkerVersionId', written.deleteMarker === true ? written.versionId : undefined],
      ],
    ];
  });
  if (childText(root, 'Quiet') === 'true') return { status: 200 };
  return xmlReply(xmlDocument('DeleteResult', [['EncodingType', encodingType], ...deleted]));
}

export function putBucket(name: string, buckets: Map<string, Bucket>, now: number): Reply {
  if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(name)) {
    throw new OssError(400, 'InvalidBucketName', 'The specified bucket is not valid.', {
      details: {
        BucketName: name,
      },
    });
  }
  if (!buckets.has(name)) buckets.set(name, new Bucket(name, now));
  return { status: 200, headers: { Location: `/${name}` } };
}

export function deleteBucket({ bucket, buckets }: Call): Reply {
  if (bucket.versions.size > 0 || bucket.uploads.size > 0) {
    throw new OssError(409, 'BucketNotEmpty', 'The bucket has objects. Please delete them first.', {
      details: { BucketName: bucket.name },
    });
  }
  buckets.delete(bucket.name);
  return { status: 204 };
}

/** GET of the service itself. */
export function listBuckets(buckets: ReadonlyMap<string, Bucket>, region: string): Reply {
  const entries = [...buckets.values()].map((bucket): XmlElement => [
    'Bucket',
    [['Name', bucket.name], ...placeOf(bucket, region)],
  ]);
  return xmlReply(xmlDocument('ListAllMyBucketsResult', [owner, ['Buckets', entries]]));
}

function placeOf(bucket: Bucket, region: string): XmlElement[] {
  return [
    ['CreationDate', isoTime(bucket.createdAt)],
    ['ExtranetEndpoint', `oss-${region}.aliyuncs.com`],
    ['IntranetEndpoint', `oss-${region}-internal.aliyuncs.com`],
    ['Location', `oss-${region}`],
    ['Region', region],
    ['StorageClass', 'Standard'],
  ];
}

export function getBucketInfo({ bucket, region }: Call): Reply {
  const info: XmlElement[] = [
    ['Name', bucket.name],
    ...placeOf(bucket, region),
    owner,
    ['AccessControlList', [['Grant', bucket.acl]]],
    ['Versioning', bucket.versioning === 'none' ? undefined : bucket.versioning],
  ];
  return xmlReply(xmlDocument('BucketInfo', [['Bucket', info]]));
}

export function getBucketLocation({ region }: Call): Reply {
  return xmlReply(xmlDocument('LocationConstraint', []).replace('><', `>oss-${region}<`));
}

export function getBucketAcl({ bucket }: Call): Reply {
  const policy: XmlElement[] = [owner, ['AccessControlList', [['Grant', bucket.acl]]]];
  return xmlReply(xmlDocument('AccessControlPolicy', policy));
}

/** Without a Status in a bucket that never had versions. */
export function getBucketVersioning({ bucket }: Call): Reply {
  const status = bucket.versioning === 'none' ? undefined : bucket.versioning;
  return xmlReply(xmlDocument('VersioningConfiguration', [['Status', status]]));
}

export function putBucketVersioning({ request, bucket }: Call): Reply {
  const status = childText(parseXml(request.body), 'Status');
  if (status !== 'Enabled' && status !== 'Suspended') throw malformedXml();
  bucket.versioning = status satisfies Versioning;
  return { status: 200 };
}

export function putBucketLifecycle({ request, bucket }: Call): Reply {
  if (parseXml(request.body).name !== 'LifecycleConfiguration') throw malformedXml();
  bucket.lifecycle = request.body.toString();
  return { status: 200 };
}

export function getBucketLifecycle({ bucket }: Call): Reply {
  if (bucket.lifecycle !== undefined) return xmlReply(bucket.lifecycle);
  throw new OssError(404, 'NoSuchLifecycle', 'No Row found in Lifecycle Table.', {
    details: {
      BucketName: bucket.name,
    },
  });
}

export function deleteBucketLifecycle({ bucket }: Call): Reply {
  bucket.lifecycle = undefined;
  return { status: 204 };
}
