// npm test: sets up what a fresh clone lacks and runs every suite. Plain Node without dependencies: it installs them.
import { stopOnSignals } from './lib/run.mjs';
import { runSuites } from './lib/run-suites.mjs';
import { suites } from './lib/suites.mjs';

const usage = `Usage: npm test [-- OPTION …]

  --only A,B     only these suites
  --all          every row of the matrices, and more seeds (npm run test:all)
  -h, --help     this text

Suites:
${Object.entries(suites)
  .map(([name, { about }]) => `  ${name.padEnd(14)} ${about}`)
  .join('\n')}`;

const { names, all } = parseArguments(process.argv.slice(2));
if (all) process.env.COMMITBRIDGE_TEST_ALL = '1';
stopOnSignals();
await runSuites(names, all ? 'npm run test:all' : 'npm test');

function parseArguments(args) {
  const only = [];
  let all = process.env.COMMITBRIDGE_TEST_ALL === '1';
  for (let i = 0; i < args.length; i++) {
    const [name, inline] = args[i].split(/=(.*)/s);
    if (name === '-h' || name === '--help') {
      console.log(usage);
      process.exit(0);
    } else if (name === '--all') all = true;
    else if (name === '--only') only.push(...(inline ?? args[++i] ?? '').split(','));
    else refuse(`There is no option ${args[i]}.`);
  }
  for (const name of only) {
    if (!Object.hasOwn(suites, name)) refuse(`There is no suite '${name}'.`);
  }
  const isWanted = (name) => only.length === 0 || only.includes(name);
  return { names: Object.keys(suites).filter(isWanted), all };
}

function refuse(sentence) {
  console.error(`${sentence}\n\n${usage}`);
  process.exit(2);
}
