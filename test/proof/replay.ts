import { historyNamed } from './histories.js';
import { formatFaults, parseFaults } from './faults.js';
import { nameAndStore, onStore } from './scenarios/stores.js';
import { recoveries, type RunPlan, type Scenario } from './stage.js';

/** `scenario|seed|faults|recovery|retries`, for the command line. */
export function formatReplay(scenario: string, { seed, faults, recovery, retries }: RunPlan): string {
  return [scenario, seed, formatFaults(faults), recovery, retries ? 'retries' : 'bare'].join('|');
}

/** @throws Error where it is not what {@link formatReplay} gives. */
export function parseReplay(
  text: string,
  scenarios: readonly Scenario[],
): { readonly scenario: Scenario; readonly plan: RunPlan } {
  const [full = '', seed = '', faults = '', who, retries] = text.split('|');
  const { name, store } = nameAndStore(full);
  const scenario = scenarios.find((each) => each.name === name) ?? historyNamed(name);
  const recovery = recoveries.find((each) => each === who);
  if (scenario === undefined) throw new Error(`there is no scenario '${name}'`);
  if (recovery === undefined || !/^[0-9]+$/.test(seed)) throw new Error(`this is no replay: ${text}`);
  const plan = { seed: Number(seed), faults: parseFaults(faults), recovery, retries: retries === 'retries' };
  return { scenario: onStore(scenario, store), plan };
}
