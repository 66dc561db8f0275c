// npm run test:oss-real: contract, protocol and a Spark job against a real bucket, when there is one; see docs/oss.md.
import { requireTools, forQuickstart } from './lib/requirements.mjs';
import { passThrough } from './lib/run.mjs';
import {
  bin,
  buildBundle,
  buildDaemon,
  fetchPrograms,
  installDependencies,
  quietSdk,
  root,
} from './lib/setup.mjs';

const needed = [
  'COMMITBRIDGE_TEST_OSS_BUCKET',
  'COMMITBRIDGE_TEST_OSS_REGION',
  'OSS_ACCESS_KEY_ID',
  'OSS_ACCESS_KEY_SECRET',
];

const missing = needed.filter((name) => (process.env[name] ?? '') === '');
if (missing.length > 0) {
  console.error(
    `test:oss-real did NOT run: there is no ${missing.join(', no ')}. See docs/oss.md, "Real OSS".`,
  );
  process.exitCode = 2;
} else {
  requireTools(forQuickstart, 'npm run test:oss-real');
  await installDependencies();
  await buildDaemon();
  await buildBundle();
  await fetchPrograms(['spark', 'aliyun', 'jobs']);
  process.exitCode = await passThrough(bin('vitest'), ['run', '--project', 'oss-real', '--maxWorkers=1'], {
    cwd: root,
    env: { ...quietSdk, COMMITBRIDGE_TEST_OSS_REAL: '1' },
  });
}
