import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkRoot } from '../../src/cli/check-root.js';
import { refusesConditionalPut } from '../../src/cli/staging-probe.js';
import type { RootConfig } from '../../src/config/config.js';
import { OssObjectStore } from '../../src/adapters/oss/oss-object-store.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import { SystemRandom } from '../../src/adapters/system/random.js';
import { OssDouble } from '../support/oss-double/index.js';

const bucket = 'lake';
const root: RootConfig = {
  ...{ index: 0, uri: `oss://${bucket}/`, store: 'main', principals: [], listing: 'never' },
  location: { scheme: 'oss', bucket, key: '' },
  staging: { scheme: 'oss', bucket, key: '.commitbridge/jobs' },
};

let double: OssDouble;
let store: OssObjectStore;
beforeEach(async () => {
  double = await OssDouble.start({ buckets: [bucket] });
  store = new OssObjectStore(
    {
      ...{ region: double.region, endpoint: double.endpoint, addressing: 'path' },
      credentials: { kind: 'static', ...double.accessKey },
    },
    new SystemClock(),
  );
});
afterEach(async () => {
  await store.close();
  await double.stop();
});

describe('a staging root', () => {
  it('is taken in a bucket without versions', async () => {
    await expect(refusesConditionalPut(root, store, new SystemRandom())).resolves.toBeUndefined();
    const findings = await checkRoot(root, store, { clock: new SystemClock(), random: new SystemRandom() });
    expect(findings.filter(({ status }) => status !== 'ok' && status !== 'warn')).toEqual([]);
    const warned = findings.filter(({ status }) => status === 'warn').map(({ check }) => check);
    expect(warned).toEqual(['conditional overwrite', 'conditional delete']);
  });

  it.each(['Enabled', 'Suspended'] as const)(
    'is refused by serve and by check in one whose versioning is %s, by a sentence that names the key',
    async (versioning) => {
      double.setVersioning(bucket, versioning);
      const sentence = await refusesConditionalPut(root, store, new SystemRandom());
      expect(sentence).toMatch(/^roots\[0\]\.staging \(oss:\/\/lake\/\.commitbridge\/jobs\)/);
      expect(sentence).toContain('bucket lake has versioning enabled or suspended');
      expect(sentence).toContain('name a staging root on a bucket that takes them');
      const findings = await checkRoot(root, store, { clock: new SystemClock(), random: new SystemRandom() });
      expect(findings.find(({ check }) => check === 'conditional put')).toMatchObject({
        status: 'unmet',
        message: sentence,
      });
    },
  );
});
