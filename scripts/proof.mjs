// npm run proof: what it needs in a fresh clone, then test/proof/run.ts with the same options.
import process from 'node:process';
import { passThrough, stopOnSignals } from './lib/run.mjs';
import { buildDaemon, fetchPrograms, installDependencies, quietSdk, root } from './lib/setup.mjs';

stopOnSignals();
const args = process.argv.slice(2);
await installDependencies();
if (args.some((arg) => arg.startsWith('--real'))) {
  await buildDaemon();
  await fetchPrograms(['s3proxy', 'versitygw']);
}
// Millions of short-lived objects: the default nursery costs a tenth of the time.
const nodeArgs = ['--max-semi-space-size=64', '--import', 'tsx'];
process.exitCode = await passThrough(process.execPath, [...nodeArgs, 'test/proof/run.ts', ...args], {
  cwd: root,
  env: quietSdk,
});
