// npm run bench:NAME: builds what a benchmark needs, then runs it. Plain Node without dependencies: it installs them.
import { requireTools } from './lib/requirements.mjs';
import { passThrough, stopOnSignals } from './lib/run.mjs';
import {
  buildBundle,
  buildDaemon,
  fetchPrograms,
  installDependencies,
  quietSdk,
  root,
} from './lib/setup.mjs';

const go = ['node', 'go'];
const benchmarks = {
  commit: { needs: go },
  rpc: { needs: go },
  scale: { needs: go },
  spark: { needs: [...go, 'jdk', 'java', 'maven'], isSpark: true },
};

const [name, ...args] = process.argv.slice(2);
if (!Object.hasOwn(benchmarks, name)) {
  process.stderr.write(
    `Usage: npm run bench:NAME [-- --json …], NAME one of ${Object.keys(benchmarks).join(', ')}\n`,
  );
  process.exit(2);
}
const { needs, isSpark = false } = benchmarks[name];
stopOnSignals();
requireTools(needs, `npm run bench:${name}`);
try {
  await installDependencies();
  await buildDaemon();
  if (isSpark) {
    await buildBundle();
    await fetchPrograms(['spark', 'jobs']);
  }
  const program = ['--import', 'tsx', `bench/${name}/main.ts`, ...args];
  process.exitCode = await passThrough(process.execPath, program, { cwd: root, env: quietSdk });
} catch (error) {
  process.stderr.write(`\nThe benchmark did not run: ${error.message}\n`);
  process.exitCode = 1;
}
