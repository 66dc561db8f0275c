import { startS3Proxy } from '../support/servers/s3proxy.js';
import type { KnownGaps } from './conformance-target.js';
import { objectStoreSuite } from './object-store.suite.js';
import { s3Target } from './s3-target.js';

/** Seen with s3proxy 4.1.0, filesystem-nio2. */
const knownGaps: KnownGaps = {
  'uploadPart: no-such-upload after the abort': 'takes parts of an upload that has ended',
  'uploadPart: no-such-upload after the Complete': 'takes parts of an upload that has ended',
  'presignPart: 404 when the upload has ended': 'takes parts of an upload that has ended',
  'complete: parts named out of order are invalid-parts':
    'takes them, and joins them in the order of their numbers',
  'complete: a part named twice is invalid-parts': 'takes it once',
  'complete: of several at a time one at least succeeds, and the object is right': {
    sometimes: 'tells a loser anything, such as 400',
  },
  'abort: against a Complete at the same time, an object that is not there after it never comes': {
    sometimes: 'answers the abort while the Complete is still at work, whose object comes a moment later',
  },
  'abort: against a Complete at the same time, aborted means that there is no object': {
    sometimes: 'both are told that they succeeded; the object is there',
  },
  'listParts: page by page all of them, each once': 'ignores max-parts and answers a marker by 501',
  'listParts: no-such-upload once the upload has ended': 'answers an empty list',
  'put ifMatch: of 8 at a time one succeeds': { sometimes: 'If-Match of a put is no atomic check' },
  'list: keys ascend by the bytes of their UTF-8': "sorts by UTF-16, as Java's strings do",
  'list: a key may be the folder of another': 'keys are paths of a file system: 500',
  'key: a//b': 'keys are paths of a file system: becomes a/b',
  'key: segment-ssssssssssssssssssssss':
    'keys are paths of a file system: 500 over 255 bytes between slashes',
};

objectStoreSuite(s3Target({ name: 's3 adapter on s3proxy', knownGaps, launch: () => startS3Proxy() }));
