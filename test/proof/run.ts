import { availableParallelism } from 'node:os';
import { missingRows } from './design-rows.js';
import { Enumeration, modelName, runModel, type Extent, type Unit, type UnitResult } from './enumerate.js';
import { mutate } from './mutate.js';
import { answerAll, serveQuestions } from './pool.js';
import { parseReplay } from './replay.js';
import { scenarios } from './scenarios/index.js';
import { nameAndStore, onStore, storeNames } from './scenarios/stores.js';
import { Stage, type Scenario } from './stage.js';

const usage = `Usage: npm run proof [-- OPTION …]

Fails every store request of every scenario, lets somebody recover, and looks at the raw store.

  --only NAME        scenarios whose name begins so, or with =NAME that one; may be given several times
  --quick            fixed seeds and a part of the product, of every request; what \`npm test\` runs
  --all              everything of everything
  --store NAME       on a store that can do what this one can: ${storeNames.join(', ')}
  --seeds N|small    schedules; small is --quick
  --workers N        processes (default: one for each core)
  --stop             at the first violation
  --json             no lines per scenario
  --list             the scenarios
  --replay RUN       one run, as a violation prints it: scenario|seed|faults|recovery|retries
  --model N          so many random histories against the reference model (--only =model: nothing else)
  --mutate [NAME]    break the code in many ways, each of which a scenario must catch: one of those that are known
                     to, with --all any
  --real N           N kills -9 of real daemons on real servers; --seeds N chooses the moments
  -h, --help         this text`;

interface Options {
  readonly only: readonly string[];
  readonly extent: Extent;
  readonly seeds: number;
  readonly store: string | undefined;
  readonly workers: number;
  readonly stops: boolean;
  /** Random histories. */
  readonly histories: number;
  readonly isJson: boolean;
}

const raceSeeds = { quick: 2, normal: 3, all: 10 } as const;
const plainSeeds = { quick: 1, normal: 2, all: 4 } as const;
const modelSeeds = { quick: 3_000, normal: 10_000, all: 100_000 } as const;
const partsOf = 6;

export async function main(args: readonly string[]): Promise<number> {
  // Stacks cost a tenth of the time; a replay has them.
  if (!args.some((arg) => arg.startsWith('--replay'))) Error.stackTraceLimit = 0;
  if (args.includes('-h') || args.includes('--help')) return print(usage);
  if (args.includes('--list'))
    return print(scenarios.map(({ name, about }) => `${name}: ${about}`).join('\n'));
  const flags = new Map<string, string>();
  const only: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const [name = '', inline] = (args[i] ?? '').split(/=(.*)/s);
    const next = args[i + 1];
    const value =
      inline ?? (valued.has(name) && next !== undefined && !next.startsWith('--') ? args[++i] : undefined);
    if (name === '--only') only.push(value ?? '');
    else if (valued.has(name) || bare.has(name)) flags.set(name, value ?? '');
    else return refuse(`There is no option ${name}.`);
  }
  const replay = flags.get('--replay');
  if (replay !== undefined) return replayOne(replay);
  const seeds = flags.get('--seeds');
  const extent: Extent =
    flags.has('--quick') || seeds === 'small' ? 'quick' : flags.has('--all') ? 'all' : 'normal';
  const options: Options = {
    only,
    extent,
    seeds: seeds === undefined || seeds === 'small' ? 0 : Number(seeds),
    store: flags.get('--store'),
    workers: Number(flags.get('--workers') ?? availableParallelism()),
    stops: flags.has('--stop'),
    histories: Number(flags.get('--model') ?? modelSeeds[extent]),
    isJson: flags.has('--json'),
  };
  if (!Number.isInteger(options.seeds) || !(options.workers >= 1))
    return refuse('A number is expected there.');
  if (options.store !== undefined && !storeNames.includes(options.store))
    return refuse(`There is no store ${options.store}.`);
  if (flags.has('--worker')) {
    serveQuestions((unit: Unit) => enumerate(unit, options));
    return 0;
  }
  const mutation = flags.get('--mutate');
  if (mutation !== undefined)
    return (await mutate(mutation, options.workers, extent === 'all', print)) ? 0 : 1;
  const kills = flags.get('--real');
  if (kills !== undefined) {
    // Not before it is wanted: it brings gRPC and the SDK.
    const { proveReal } = await import('./real.js');
    return (await proveReal(Number(kills), options.seeds > 0 ? options.seeds : 1, print)) ? 0 : 1;
  }
  return prove(options, args);
}

const valued = new Set([
  '--only',
  '--store',
  '--seeds',
  '--workers',
  '--replay',
  '--model',
  '--mutate',
  '--real',
]);
const bare = new Set(['--quick', '--all', '--stop', '--json', '--worker']);

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function refuse(sentence: string): number {
  process.stderr.write(`${sentence}\n\n${usage}\n`);
  return 2;
}

function seedsOf(scenario: Scenario, { seeds, extent }: Options): number {
  if (seeds > 0) return seeds;
  return (scenario.isRace === true ? raceSeeds : plainSeeds)[extent];
}

/** `=NAME` is that scenario only. */
function isNamed(name: string, prefix: string): boolean {
  return prefix.startsWith('=') ? name === prefix.slice(1) : name.startsWith(prefix);
}

function enumerate(unit: Unit, options: Options): Promise<UnitResult> {
  const { name, store } = nameAndStore(unit.scenario);
  if (name === modelName) return runModel(unit, options.histories, options.stops, store);
  const found = scenarios.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no scenario ${unit.scenario}`);
  const scenario = onStore(found, store);
  return new Enumeration(scenario, unit, options.extent, seedsOf(scenario, options), options.stops).run();
}

async function prove(options: Options, args: readonly string[]): Promise<number> {
  const chosen = [...scenarios, { name: modelName }].filter(
    ({ name }) => options.only.length === 0 || options.only.some((prefix) => isNamed(name, prefix)),
  );
  if (chosen.length === 0) return refuse('No scenario has such a name.');
  const startedAt = Date.now();
  const unitName = (name: string): string =>
    options.store === undefined ? name : `${name} @${options.store}`;
  const units = chosen.flatMap(({ name }): Unit[] =>
    Array.from({ length: partsOf }, (_, part) => ({ scenario: unitName(name), part, parts: partsOf })),
  );
  const results = new Map<string, UnitResult[]>();
  const totals = { crashPoints: 0, runs: 0, violations: 0, passed: 0, failed: 0 };
  await answerAll(
    units,
    options.workers,
    args,
    (unit) => enumerate(unit, options),
    (result) => {
      const parts = results.get(result.scenario) ?? [];
      parts.push(result);
      results.set(result.scenario, parts);
      if (parts.length === partsOf) report(parts, totals, options.isJson);
    },
    () => options.stops && totals.violations > 0,
  );
  if (options.only.length === 0) {
    const missing = missingRows(scenarios.map(({ name }) => name));
    for (const sentence of missing) print(`section 11: ${sentence}`);
    totals[missing.length === 0 ? 'passed' : 'failed']++;
  }
  const { crashPoints, runs, violations, passed, failed } = totals;
  if (!options.isJson) print(`${Math.round((Date.now() - startedAt) / 1000)} s`);
  print(JSON.stringify({ scenarios: chosen.length, crash_points: crashPoints, runs, violations }));
  print(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function report(
  parts: readonly UnitResult[],
  totals: { crashPoints: number; runs: number; violations: number; passed: number; failed: number },
  isJson: boolean,
): void {
  const sum = (of: (part: UnitResult) => number): number => parts.reduce((all, part) => all + of(part), 0);
  const name = parts[0]?.scenario ?? '';
  const requests = parts[0]?.requests ?? 0;
  const runs = sum((part) => part.runs);
  const violations = sum((part) => part.violations);
  totals.crashPoints += requests;
  totals.runs += runs;
  totals.violations += violations;
  totals[violations === 0 ? 'passed' : 'failed']++;
  if (!isJson || violations > 0)
    print(`${name}: ${requests} requests, ${runs} runs, ${violations} violations`);
  for (const { replay, triggered, violations: found } of parts
    .flatMap(({ examples }) => examples)
    .slice(0, 5)) {
    print(`  ${triggered.join(', then ') || 'no failure'}`);
    for (const violation of found.slice(0, 4)) print(`    ${violation.split('\n').slice(0, 3).join(' ')}`);
    print(`    npm run proof -- --replay '${replay}'`);
  }
}

async function replayOne(text: string): Promise<number> {
  const { scenario, plan } = parseReplay(text, scenarios);
  const result = await Stage.run(scenario, plan);
  print(`${scenario.name}: ${scenario.about}`);
  print(`  ${result.triggered.join(', then ') || 'no failure'}`);
  for (const violation of result.violations) print(`  ${violation}`);
  const isClean = result.violations.length === 0;
  print(isClean ? '1 passed, 0 failed' : '0 passed, 1 failed');
  return isClean ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
