// What a fresh clone lacks: dependencies, the daemon, the jar, servers and Spark. Each is made when it is missing or
// older than what it is made from. Plain Node without dependencies: it runs before `npm ci`.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, step } from './run.mjs';

export const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');
export const version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
export const bundleJar = join(root, `java-shim/bundle/target/commitbridge-hadoop-${version}.jar`);

/** A command that `npm ci` has brought. */
export function bin(name) {
  return join(root, 'node_modules/.bin', name);
}

/** For processes that use the AWS SDK on Node 20. */
export const quietSdk = { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' };

export async function installDependencies() {
  if (dependenciesInstalled()) return;
  await step('Installing the dependencies of the daemon and its tests (npm ci)', () =>
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root }),
  );
}

function dependenciesInstalled() {
  const installedFile = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([name, entry]) => name === '' || entry.optional === true || installed[name]?.version === entry.version,
  );
}

export async function buildDaemon() {
  await step('Building the daemon (tsc)', () =>
    run(bin('tsc'), ['-p', 'tsconfig.build.json'], { cwd: root }),
  );
}

/** Returns the path of the jar. */
export async function buildBundle() {
  const stamp = join(root, 'java-shim/bundle/target/built-from.sha256');
  const hash = hashOf(['java-shim/pom.xml', 'java-shim/shim', 'java-shim/bundle', 'proto']);
  const current = existsSync(bundleJar) && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
  if (!current) {
    await step('Building the jar for Spark (Maven)', () =>
      run('mvn', mavenArgs('package', ['-DskipTests']), { cwd: root }),
    );
    writeFileSync(stamp, hash);
  }
  return bundleJar;
}

/** Of a goal for the modules that make the jar. */
export function mavenArgs(goal, more = []) {
  return ['-f', 'java-shim', '-B', '-q', '-ntp', '-Dstyle.color=never', ...more, goal, '-pl', 'shim,bundle'];
}

function hashOf(paths) {
  const hash = createHash('sha256');
  for (const file of paths.flatMap((path) => filesBelow(path)).sort()) {
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

function filesBelow(path) {
  if (/\.(xml|proto)$/.test(path)) return path.endsWith('dependency-reduced-pom.xml') ? [] : [path];
  return readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) => {
    const child = `${path}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'target' ? [] : filesBelow(child);
    return entry.isFile() && entry.name !== 'dependency-reduced-pom.xml' ? [child] : [];
  });
}

const fetched = {
  s3proxy: 'Getting s3proxy, a real S3 server (Maven)',
  versitygw:
    'Getting versitygw, a second S3 server (go install; the first time it is compiled, which takes minutes)',
  spark: 'Getting a stock Spark and hadoop-aws (Maven; about 900 MB the first time)',
  'oss-clients': 'Getting clients of Aliyun OSS (pip, go build, Maven)',
  aliyun: 'Getting hadoop-aliyun (Maven)',
  jobs: 'Compiling the Spark jobs (javac)',
  'bench-spark':
    'Getting the Spark of the benchmarks, with hadoop-cloud (Maven; about 600 MB the first time)',
  hadoop: 'Getting a stock Hadoop with its mini clusters and hadoop-aws (Maven; about 800 MB the first time)',
  mapreduce: 'Compiling the MapReduce jobs (javac)',
  matrix: 'Getting the other versions of Spark to test with (Maven; about 600 MB each the first time)',
};

/**
 * Fetches or builds what runs beside the daemon.
 * @param {(keyof typeof fetched)[]} names
 */
export async function fetchPrograms(names) {
  for (const name of names) {
    await step(fetched[name], () =>
      run(process.execPath, ['--import', 'tsx', 'scripts/lib/fetch.ts', name], { cwd: root, env: quietSdk }),
    );
  }
}
