// npm run bench:NAME: builds what a benchmark needs, then runs it. Plain Node without dependencies: it installs them.
import { requireTools } from './lib/requirements.mjs';
import { passThrough, stopOnSignals } from './lib/run.mjs';
import { buildDaemon, installDependencies, quietSdk, root } from './lib/setup.mjs';

const needs = ['node', 'go'];
const benchmarks = ['commit', 'rpc', 'scale'];

const [name, ...args] = process.argv.slice(2);
if (!benchmarks.includes(name)) {
  process.stderr.write(`Usage: npm run bench:NAME [-- --json …], NAME one of ${benchmarks.join(', ')}\n`);
  process.exit(2);
}
stopOnSignals();
requireTools(needs, `npm run bench:${name}`);
try {
  await installDependencies();
  await buildDaemon();
  const program = ['--import', 'tsx', `bench/${name}/main.ts`, ...args];
  process.exitCode = await passThrough(process.execPath, program, { cwd: root, env: quietSdk });
} catch (error) {
  process.stderr.write(`\nThe benchmark did not run: ${error.message}\n`);
  process.exitCode = 1;
}
