import { describe, it } from 'vitest';
import { expectEveryPromise, startQuickstart } from '../support/quickstart.js';

const minute = 60_000;

describe('npm run quickstart -- --store oss', () => {
  it('ends with the line of JSON that it ends with on S3', { timeout: 6 * minute }, async () => {
    expectEveryPromise(await startQuickstart(['--store', 'oss']).ended);
  });
});
