import type { OssStoreOptions } from '../../src/adapters/oss/oss-options.js';
import type { KnownGaps } from '../conformance/conformance-target.js';
import { ossTarget } from '../conformance/oss-target.js';
import { objectStoreSuite } from '../conformance/object-store.suite.js';
import { loopback, OssDouble, putSigned } from '../support/oss-double/index.js';

const bucket = 'conformance';
const domain = 'data.example.com';

interface Addressing {
  readonly options: (double: OssDouble) => Pick<OssStoreOptions, 'addressing' | 'endpoint'>;
  readonly knownGaps?: KnownGaps;
}

const ofAnotherBucket =
  'a domain stands for one bucket: a request for another is signed for that, and denied';

/** The last is for tests alone; real OSS takes the others, and so does the double of them. */
const addressings: Readonly<Record<string, Addressing>> = {
  'virtual host': {
    options: (double) => ({ addressing: 'virtual-host', endpoint: double.endpointAt() }),
  },
  cname: {
    options: (double) => ({ addressing: 'cname', endpoint: double.endpointAt(domain) }),
    knownGaps: {
      'errors: no-such-bucket': ofAnotherBucket,
      'errors: HEAD in a missing bucket finds nothing': ofAnotherBucket,
    },
  },
  'path style': {
    options: (double) => ({ addressing: 'path', endpoint: double.endpoint }),
  },
};

for (const [name, { options, knownGaps = {} }] of Object.entries(addressings)) {
  for (const signature of ['v4', 'v1'] as const) {
    objectStoreSuite(
      ossTarget({
        name: `the double of OSS, ${name}, signature ${signature}`,
        ...{ knownGaps, putSigned },
        launch: async () => {
          const double = await OssDouble.start({
            ...{ buckets: [bucket], cnames: { [domain]: bucket }, signatureVersions: [signature] },
            pathStyle: name === 'path style' ? 'allowed' : 'refused',
          });
          return {
            bucket,
            options: {
              ...{ region: double.region, ...options(double), signature, lookup: loopback },
              credentials: { kind: 'static', ...double.accessKey },
            },
            stop: () => double.stop(),
          };
        },
      }),
    );
  }
}
