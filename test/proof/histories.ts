import { Choices, choicesOf } from './choices.js';
import { appliesTo, faultModes, type Fault } from './faults.js';
import { History } from './model.js';
import { SeededRandom } from './seeded-random.js';
import type { RunPlan, Scenario } from './stage.js';

const modelPrefix = 'model ';

/**
 * Random histories of calls over one to three jobs and daemons, with random faults, against a small reference model:
 * what each call may answer, and what must be visible after it. A third of the histories makes calls at once; those
 * are held against the guarantees alone.
 */
export function modelScenario(seed: number): Scenario {
  return { ...chosenHistory(choicesOf(seed)), name: `${modelPrefix}${seed}` };
}

/** A history by its decisions, as a smaller one of a seed's is named. */
export function chosenHistory(choices: readonly number[]): Scenario {
  return {
    name: `${modelPrefix}${choices.join('.')}.`,
    about: 'a random history against the reference model',
    leavesToGc: 'uploads',
    run: (stage) => new History(stage, new Choices(choices)).play(),
  };
}

/** @returns undefined where the name isn't one of these two. */
export function historyNamed(name: string): Scenario | undefined {
  if (!name.startsWith(modelPrefix)) return undefined;
  const numbers = name.slice(modelPrefix.length);
  if (/^[0-9]+$/.test(numbers)) return modelScenario(Number(numbers));
  if (!/^([0-9]*\.)+$/.test(numbers)) return undefined;
  return chosenHistory(numbers.split('.').slice(0, -1).map(Number));
}

export function modelPlan(seed: number): RunPlan {
  const random = new SeededRandom(seed ^ 0xfa17);
  const faults: Fault[] = [];
  for (let count = random.below(3); count > 0; count--) {
    const mode = faultModes[random.below(faultModes.length)] ?? 'before';
    // The fault waits for a request of its number, whatever that is: most kinds take only modes that apply to all.
    if (!appliesTo(mode, undefined)) continue;
    faults.push({
      request: 1 + random.below(120),
      mode,
      ...(mode === 'late' ? { delayRequests: 1 + random.below(12) } : {}),
    });
  }
  return { seed, faults, recovery: 'clients', retries: random.below(2) === 0 };
}
