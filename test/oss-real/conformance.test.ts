import { objectStoreSuite } from '../conformance/object-store.suite.js';
import { ossTarget } from '../conformance/oss-target.js';
import { cleanUp, realBucket } from './bucket.js';

for (const signature of ['v4', 'v1'] as const) {
  objectStoreSuite(
    ossTarget({
      name: `OSS, signature ${signature}`,
      launch: async () => {
        const real = realBucket();
        return {
          bucket: real.bucket,
          keyPrefix: real.prefix,
          options: { ...real.options, signature },
          stop: () => cleanUp(real),
        };
      },
    }),
  );
}
