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

const java = ['jdk', 'java', 'maven'];
/** What each needs beside Node and Go, and what is made for it beside the daemon. */
const benchmarks = {
  commit: { tools: java, make: () => undefined },
  rpc: { tools: [], make: () => undefined },
  scale: { tools: [], make: () => undefined },
  oss: { tools: [], make: () => undefined },
  spark: { tools: java, make: withSpark },
  data: { tools: java, make: withSpark },
};

const [name, ...args] = process.argv.slice(2);
const benchmark = benchmarks[name];
if (benchmark === undefined) {
  const names = Object.keys(benchmarks).join(', ');
  process.stderr.write(`Usage: npm run bench:NAME [-- --json …], NAME one of ${names}\n`);
  process.exit(2);
}
stopOnSignals();
requireTools(['node', 'go', ...benchmark.tools], `npm run bench:${name}`);
try {
  await installDependencies();
  await buildDaemon();
  await benchmark.make();
  const program = ['--import', 'tsx', `bench/${name}/main.ts`, ...args];
  process.exitCode = await passThrough(process.execPath, program, { cwd: root, env: quietSdk });
} catch (error) {
  process.stderr.write(`\nThe benchmark did not run: ${error.message}\n`);
  process.exitCode = 1;
}

async function withSpark() {
  await buildBundle();
  await fetchPrograms(['bench-spark']);
}
