import { createHmac } from 'node:crypto';
import type { OssRequest } from './oss-request.js';

/** Query parameters that V1 signs, besides those that begin with `x-oss-`: the union of what the SDKs list. */
const signedParameters = new Set(
  `accessPoint accessPointPolicy acl append asyncFetch bucketArchiveDirectRead bucketInfo callback callback-var
   cloudboxes cname comp continuation-token cors delete encryption endTime group httpsConfig img inventory inventoryId
   lifecycle link live location logging metaQuery objectInfo objectMeta partNumber policy policyStatus position
   publicAccessBlock qos qosInfo qosRequester redundancyTransition referer regionList replication replicationLocation
   replicationProgress requestPayment requesterQosInfo resourceGroup resourcePool resourcePoolBuckets resourcePoolInfo
   response-cache-control response-content-disposition response-content-encoding response-content-language
   response-content-type response-expires restore security-token sequential startTime stat status style styleName
   symlink tagging transferAcceleration uploadId uploads versionId versioning versions vip vod website worm wormExtend
   wormId`.split(/\s+/),
);

/** The text that V1 signs; `date` is the Date or x-oss-date header, or Expires in a URL. */
export function stringToSignV1(request: OssRequest, date: string): string {
  const { method, headers } = request;
  const head = [method, headers.get('content-md5') ?? '', headers.get('content-type') ?? '', date];
  const ossHeaders = [...headers]
    .filter(([name]) => name.startsWith('x-oss-'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}:${value.trim()}\n`);
  return `${head.join('\n')}\n${ossHeaders.join('')}${canonicalResource(request)}`;
}

function canonicalResource({ bucket, key, query }: OssRequest): string {
  const parameters = query.entries
    .filter(([name]) => signedParameters.has(name) || name.startsWith('x-oss-'))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => (value === '' ? name : `${name}=${value}`));
  const path = bucket === '' ? '/' : `/${bucket}/${key}`;
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`;
}

export function signatureV1(secret: string, stringToSign: string): string {
  return createHmac('sha1', secret).update(stringToSign, 'utf8').digest('base64');
}
