// The suites of the repository: what each needs, and how it is run and counted.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runChecks } from './checks.mjs';
import { closingLineCounts, judged, removeSurefireReports, surefireCounts, vitestCounts } from './counts.mjs';
import { passThrough, passThroughKeepingLastLine, step } from './run.mjs';
import {
  bin,
  buildBundle,
  buildDaemon,
  fetchPrograms,
  installDependencies,
  mavenArgs,
  quietSdk,
  root,
} from './setup.mjs';

/** What a suite may need first, in the order in which it is made, and the tools of the machine that this takes. */
export const preparations = {
  dependencies: { tools: ['node'], make: installDependencies },
  daemon: { tools: [], make: buildDaemon },
  bundle: { tools: ['jdk', 'java', 'maven'], make: buildBundle },
  s3proxy: { tools: ['java', 'maven'], make: () => fetchPrograms(['s3proxy']) },
  versitygw: { tools: ['go'], make: () => fetchPrograms(['versitygw']) },
  'oss-clients': {
    tools: ['python', 'go', 'jdk', 'java', 'maven'],
    make: () => fetchPrograms(['oss-clients']),
  },
  spark: { tools: ['jdk', 'java', 'maven'], make: () => fetchPrograms(['spark', 'jobs']) },
  aliyun: { tools: ['java', 'maven'], make: () => fetchPrograms(['aliyun']) },
  hadoop: { tools: ['jdk', 'java', 'maven'], make: () => fetchPrograms(['hadoop', 'mapreduce']) },
  matrix: { tools: ['jdk', 'java', 'maven'], make: () => fetchPrograms(['matrix']) },
};

const javaModules = ['shim', 'bundle'].map((name) => join(root, 'java-shim', name));
const resultsDir = join(root, 'test-results');
const servers = ['daemon', 's3proxy', 'versitygw'];
const everything = [...servers, 'bundle', 'spark'];

/**
 * Of the proof's scenarios, those in which conditions matter that OSS lacks; the suite `oss` has others.
 */
const whereOssDiffers = [
  'replace',
  'inline, replace',
  'another writer',
  'a foreign writer',
  'two jobs with the same keys',
].map((name) => `--only=${name}`);

/** In the order in which they run: what fails soonest comes first. */
export const suites = {
  check: { about: 'types, style, wire contract, versions', needs: [], run: runChecks },
  unit: vitest('unit', 'single modules, in memory', []),
  observer: vitest('observer', 'the tests’ own proxy and reader, on real servers', servers),
  conformance: vitest(
    'conformance',
    'every adapter against the contract of the store port, on real servers',
    servers,
  ),
  proof: {
    about: 'the protocol with a death or a fault at every store request, and random histories',
    needs: [],
    run: () => runCommand('test/proof/run.ts', isAll() ? [] : ['--quick'], ['--max-semi-space-size=64']),
  },
  'proof-oss': {
    about: 'the same on a store that can do what OSS can',
    needs: [],
    run: () =>
      runCommand(
        'test/proof/run.ts',
        ['--store', 'oss', ...(isAll() ? [] : ['--quick', ...whereOssDiffers])],
        ['--max-semi-space-size=64'],
      ),
  },
  kills: {
    about: 'kill -9 of real daemons on real servers, at random moments of their calls',
    needs: servers,
    run: () => runCommand('test/proof/run.ts', ['--real', isAll() ? '1000' : '20', '--seeds', '1']),
  },
  scale: {
    about: 'large jobs in a heap of 256 MB, many jobs in a row',
    needs: ['versitygw'],
    run: () =>
      runCommand('test/scale/run.ts', [], ['--max-old-space-size=256', '--expose-gc'], {
        COMMITBRIDGE_TEST_SCALE_TASKS: isAll() ? '10000' : '1000',
      }),
  },
  oss: vitest(
    'oss',
    'Aliyun OSS on a double of it: the adapter, the protocol, crash points, Spark on oss://, and clients that others wrote',
    ['daemon', 's3proxy', 'bundle', 'spark', 'aliyun', 'oss-clients'],
    { options: ['--project=oss-protocol', '--maxWorkers=2'] },
  ),
  protocol: vitest('protocol', 'the services over real gRPC, and clients in other languages', servers, {
    tools: ['python'],
  }),
  java: { about: 'the shim and its bundle (Maven)', needs: ['bundle'], run: runJava },
  // A Spark is three JVMs: more than two at a time make each other miss their timeouts.
  e2e: vitest('e2e', 'the daemon, stock Spark in several JVMs, the quickstart', everything, {
    tools: ['python'],
    options: ['--maxWorkers=2', ...without('test/e2e/spark-matrix', 'test/e2e/mapreduce')],
  }),
  spark: vitest('spark', 'every way that stock Spark writes, version by version', [...everything, 'matrix'], {
    project: 'e2e',
    options: ['test/e2e/spark-matrix', '--maxWorkers=2'],
  }),
  // A cluster and its jobs want the machine for themselves.
  mapreduce: vitest('mapreduce', 'MapReduce on YARN', [...servers, 'bundle', 'hadoop'], {
    project: 'e2e',
    options: ['test/e2e/mapreduce', '--maxWorkers=1'],
  }),
  cost: vitest('cost', 'requests at the server for a Spark job', everything, { options: ['--maxWorkers=1'] }),
};

function vitest(name, about, needs, { tools = [], options = [], project = name } = {}) {
  return { about, needs, tools, run: () => runVitest(name, project, options) };
}

function without(...directories) {
  return directories.map((directory) => `--exclude=${directory}/**`);
}

async function runVitest(name, project, options) {
  mkdirSync(resultsDir, { recursive: true });
  const report = join(resultsDir, `${name}.json`);
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const exitCode = await passThrough(bin('vitest'), ['run', '--project', project, ...options, ...reporters], {
    cwd: root,
    env: quietSdk,
  });
  return judged(vitestCounts(report, root), exitCode);
}

/** @returns {boolean} whether every row of the matrices is asked for */
function isAll() {
  return process.env.COMMITBRIDGE_TEST_ALL === '1';
}

/**
 * A TypeScript program that counts for itself and ends with a line that says so.
 * @param {string} script
 * @param {string[]} args
 * @param {string[]} nodeArgs
 * @param {Record<string, string>} env
 */
async function runCommand(script, args, nodeArgs = [], env = {}) {
  const { exitCode, lastLine } = await passThroughKeepingLastLine(
    process.execPath,
    [...nodeArgs, '--import', 'tsx', script, ...args],
    { cwd: root, env: { ...quietSdk, ...env } },
  );
  return judged(closingLineCounts(lastLine), exitCode);
}

async function runJava() {
  removeSurefireReports(javaModules);
  const exitCode = await step('mvn verify', () => passThrough('mvn', mavenArgs('verify'), { cwd: root }));
  return judged(surefireCounts(javaModules), exitCode);
}

/**
 * The names of what the suites need, and of the tools for it.
 * @param {string[]} names
 */
export function needsOf(names) {
  const wanted = new Set(['dependencies', ...names.flatMap((name) => suites[name].needs)]);
  const needed = Object.keys(preparations).filter((name) => wanted.has(name));
  const tools = needed.flatMap((name) => preparations[name].tools);
  return { needed, tools: [...new Set([...tools, ...names.flatMap((name) => suites[name].tools ?? [])])] };
}
