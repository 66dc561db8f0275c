// npm run quickstart: from a fresh clone to a table that a stock Spark has written through Commitbridge, and back.
// Plain Node without dependencies: it installs them.
import { requireTools, forQuickstart } from './lib/requirements.mjs';
import { passThrough, stopOnSignals } from './lib/run.mjs';
import {
  buildBundle,
  buildDaemon,
  fetchPrograms,
  installDependencies,
  quietSdk,
  root,
} from './lib/setup.mjs';

const usage = `Usage: npm run quickstart [-- OPTION …]

  --store NAME   the kind of object store to write to: s3proxy (default), a real S3 server from Maven,
                 or oss, a double of Aliyun OSS in this process
  -h, --help     this text

Progress goes to stderr; the last line of stdout is the result, as JSON. Exit code 0 only if all was as promised.`;
/** What each needs to be fetched. */
const programs = { s3proxy: ['s3proxy', 'spark', 'jobs'], oss: ['spark', 'aliyun', 'jobs'] };
const stores = Object.keys(programs);

const started = Date.now();
const { store } = parseArguments(process.argv.slice(2));
stopOnSignals();
process.stderr.write(
  'Commitbridge quickstart: needs Node.js, a JDK, Maven, and npm and Maven registries to download from.\n',
);
requireTools(forQuickstart, 'npm run quickstart');
try {
  await installDependencies();
  await buildDaemon();
  await buildBundle();
  await fetchPrograms(programs[store]);
  const demo = [
    '--import',
    'tsx',
    'scripts/quickstart/main.ts',
    '--store',
    store,
    '--started',
    String(started),
  ];
  process.exitCode = await passThrough(process.execPath, demo, { cwd: root, env: quietSdk });
} catch (error) {
  process.stderr.write(`\nThe quickstart did not work: ${error.message}\n`);
  process.exitCode = 1;
}

function parseArguments(args) {
  let chosen = stores[0];
  for (let i = 0; i < args.length; i++) {
    const [name, inline] = args[i].split(/=(.*)/s);
    if (name === '-h' || name === '--help') {
      process.stdout.write(`${usage}\n`);
      process.exit(0);
    }
    if (name !== '--store') refuse(`There is no option ${args[i]}.`);
    chosen = inline ?? args[++i];
    if (!stores.includes(chosen)) {
      refuse(
        `--store takes ${stores.join(' or ')}, not ${chosen === undefined ? 'nothing' : `'${chosen}'`}.`,
      );
    }
  }
  return { store: chosen };
}

function refuse(sentence) {
  process.stderr.write(`${sentence}\n\n${usage}\n`);
  process.exit(2);
}
