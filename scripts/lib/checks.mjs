// What is checked without running the product: types, style, the wire contract, versions.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { noCounts, withFailure } from './counts.mjs';
import { run } from './run.mjs';
import { bin, root } from './setup.mjs';

const caches = join(root, '.cache/checks');
const incremental = ['--incremental', '--tsBuildInfoFile', join(caches, 'tsc.tsbuildinfo')];

const checks = {
  'versions agree': async () => versionsAgree(),
  types: () => run(bin('tsc'), ['-p', 'tsconfig.json', '--noEmit', ...incremental], { cwd: root }),
  eslint: () => run(bin('eslint'), ['.', ...cached('eslint')], { cwd: root }),
  prettier: () => run(bin('prettier'), ['--check', '.', ...cached('prettier')], { cwd: root }),
  'buf lint': () => run(bin('buf'), ['lint'], { cwd: root }),
  'buf format': () => run(bin('buf'), ['format', '--diff', '--exit-code'], { cwd: root }),
  'buf breaking': () => run(bin('buf'), ['breaking', '--against', 'proto/baseline.binpb'], { cwd: root }),
  'generated types': () => run(process.execPath, ['scripts/gen.mjs', '--check'], { cwd: root }),
};

/** Files that have not changed are not looked at again; CI looks at all, since a rule may depend on another file. */
function cached(tool) {
  if (process.env.CI !== undefined) return [];
  return ['--cache', '--cache-location', join(caches, tool), '--cache-strategy', 'content'];
}

/** Two at a time; each counts as one test. */
export async function runChecks() {
  let counts = noCounts();
  const left = Object.entries(checks);
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [name, check] = next;
      const started = performance.now();
      const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
      try {
        await check();
        counts = { ...counts, passed: counts.passed + 1 };
        console.log(`  ok      ${name} (${seconds()})`);
      } catch (error) {
        counts = withFailure(counts, name);
        console.log(`  FAILED  ${name} (${seconds()})\n${error.message}`);
      }
    }
  };
  await Promise.all([worker(), worker()]);
  return counts;
}

/** package.json, its lock file, the daemon and every module of the shim must name the same version. */
function versionsAgree() {
  const read = (file) => readFileSync(join(root, file), 'utf8');
  const wanted = JSON.parse(read('package.json')).version;
  const found = {
    'package-lock.json': JSON.parse(read('package-lock.json')).version,
    'src/version.ts': /version = '([^']+)'/.exec(read('src/version.ts'))?.[1],
  };
  for (const pom of ['java-shim/pom.xml', ...modulePoms()]) {
    found[pom] =
      /<groupId>io\.commitbridge<\/groupId>\s*<artifactId>commitbridge-java<\/artifactId>\s*<version>([^<]+)</.exec(
        read(pom),
      )?.[1];
  }
  const other = Object.entries(found).filter(([, version]) => version !== wanted);
  if (other.length === 0) return;
  const list = other.map(([file, version]) => `${file}: ${version ?? 'none found'}`).join('\n');
  throw new Error(`package.json has version ${wanted}; others differ:\n${list}`);
}

function modulePoms() {
  return readdirSync(join(root, 'java-shim'), { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && readdirSync(join(root, 'java-shim', entry.name)).includes('pom.xml'),
    )
    .map((entry) => `java-shim/${entry.name}/pom.xml`);
}
