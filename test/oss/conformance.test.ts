import { ossTarget } from '../conformance/oss-target.js';
import { objectStoreSuite } from '../conformance/object-store.suite.js';
import { OssDouble } from '../support/oss-double/index.js';

const bucket = 'conformance';

for (const signature of ['v4', 'v1'] as const) {
  objectStoreSuite(
    ossTarget({
      name: `the double of OSS, signature ${signature}`,
      launch: async () => {
        const double = await OssDouble.start({ buckets: [bucket], signatureVersions: [signature] });
        return {
          bucket,
          options: {
            ...{ region: double.region, endpoint: double.endpoint, addressing: 'path', signature },
            credentials: { kind: 'static', ...double.accessKey },
          },
          stop: () => double.stop(),
        };
      },
    }),
  );
}
