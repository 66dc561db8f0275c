import { headerV1, urlV1 } from './authentication-v1.js';
import { headerV4, urlV4 } from './authentication-v4.js';
import { invalidArgument, OssError } from './oss-error.js';
import type { OssRequest } from './oss-request.js';
import { algorithmV4 } from './signature-v4.js';
import type { Verifier } from './verifier.js';

/** Throws unless the request is signed by a known key, now, and exactly as it came. */
export function authenticate(request: OssRequest, verifier: Verifier): void {
  const { headers, query } = request;
  const authorization = headers.get('authorization');
  if (authorization?.startsWith(algorithmV4) === true) {
    headerV4(request, authorization, verifier);
    return;
  }
  if (authorization?.startsWith('OSS ') === true) {
    headerV1(request, authorization, verifier);
    return;
  }
  if (authorization !== undefined) {
    throw invalidArgument('Authorization header is invalid.', 'Authorization', authorization);
  }
  if (query.has('x-oss-signature-version')) {
    urlV4(request, verifier);
    return;
  }
  if (query.has('Signature') || query.has('OSSAccessKeyId')) {
    urlV1(request, verifier);
    return;
  }
  throw new OssError(
    403,
    'AccessDenied',
    request.key === ''
      ? 'Anonymous access is forbidden for this operation.'
      : 'You have no right to access this object because of bucket acl.',
    { ec: '0003-00000001' },
  );
}
