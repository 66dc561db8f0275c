// Prepares, runs and sums up suites. The last line of stdout is `N passed, N failed`, with `, N skipped` if any were.
import { noCounts, withFailure } from './counts.mjs';
import { requirementText, requireTools } from './requirements.mjs';
import { preparations, needsOf, suites } from './suites.mjs';

const maxFailuresShown = 40;

/**
 * @param {string[]} names of suites
 * @param {string} command as it is called in messages
 */
export async function runSuites(names, command) {
  const { needed, tools } = needsOf(names);
  console.log(
    `${command}: ${names.join(', ')}. It needs ${requirementText(tools)}, and package registries to download from.`,
  );
  requireTools(tools, command);
  const unprepared = await prepare(needed);
  const results = [];
  for (const name of names) {
    console.log(`\n=== ${name}: ${suites[name].about}`);
    const started = performance.now();
    const counts = await runSuite(name, unprepared);
    results.push({ name, counts, seconds: (performance.now() - started) / 1000 });
  }
  report(results);
}

/** Returns what couldn't be made, with its error. */
async function prepare(needed) {
  const unprepared = new Map();
  for (const name of needed) {
    try {
      await preparations[name].make();
    } catch (error) {
      unprepared.set(name, error);
      process.stderr.write(`${error.message}\n`);
      if (name === 'dependencies') break; // nothing works without them
    }
  }
  return unprepared;
}

async function runSuite(name, unprepared) {
  const missing = ['dependencies', ...suites[name].needs].filter((need) => unprepared.has(need));
  if (missing.length > 0) {
    const line = `it could not start: no ${missing.join(', ')} (see above)`;
    console.log(line);
    return withFailure(noCounts(), line);
  }
  try {
    return await suites[name].run();
  } catch (error) {
    console.log(error.message);
    return withFailure(noCounts(), `it could not start: ${error.message.split('\n')[0]}`);
  }
}

function report(results) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  console.log(`\n${row('suite', 'passed', 'failed', 'skipped', 'seconds')}`);
  for (const { name, counts, seconds } of results) {
    console.log(row(name, counts.passed, counts.failed, counts.skipped, seconds.toFixed(0)));
    for (const key of Object.keys(total)) total[key] += counts[key];
  }
  const failures = results.flatMap(({ name, counts }) => counts.failures.map((line) => `${name}: ${line}`));
  if (failures.length > 0) console.log(`\nFailed:`);
  for (const line of failures.slice(0, maxFailuresShown)) console.log(`  ${line}`);
  if (failures.length > maxFailuresShown) console.log(`  … and ${failures.length - maxFailuresShown} more`);
  process.exitCode = total.failed === 0 ? 0 : 1;
  const skipped = total.skipped === 0 ? '' : `, ${total.skipped} skipped`;
  console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`);
}

function row(name, ...cells) {
  return name.padEnd(14) + cells.map((cell) => String(cell).padStart(9)).join('');
}
