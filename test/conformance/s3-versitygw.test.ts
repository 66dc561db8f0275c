import { startVersityGw } from '../support/servers/versitygw.js';
import type { KnownGaps } from './conformance-target.js';
import { objectStoreSuite } from './object-store.suite.js';
import { s3Target } from './s3-target.js';

/** Seen with versitygw 1.8.0, posix with its metadata in a sidecar directory. */
const knownGaps: KnownGaps = {
  'complete: replaces the object that is there':
    'keeps metadata of the old object that the upload has no value for',
  'abort: against a Complete at the same time, an object that is not there after it never comes': {
    sometimes: 'answers the abort while the Complete is still at work, whose object comes a moment later',
  },
  'abort: against a Complete at the same time, aborted means that there is no object': {
    sometimes: 'both are told that they succeeded; the object is there',
  },
  'listUploads: page by page all of them, each once': "answers 400 to an upload id's marker",
  'listUploads: page by page all uploads of one key': "answers 400 to an upload id's marker",
  'list: a key may be the folder of another': 'keys are paths of a file system: 409',
  'key: a//b': 'keys are paths of a file system: becomes a/b',
  'key: segment-ssssssssssssssssssssss':
    'keys are paths of a file system: 500 over 255 bytes between slashes',
  'errors: access-denied with an unknown key id': 'answers 404, to a HEAD as to all others',
};

objectStoreSuite(s3Target({ name: 's3 adapter on versitygw', knownGaps, launch: () => startVersityGw() }));
