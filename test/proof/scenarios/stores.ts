import { OSS_CAPABILITIES } from '../../../src/adapters/oss/oss-options.js';
import type { StoreCapabilities } from '../../../src/ports/object-store.js';
import type { Scenario } from '../stage.js';
import { oneJobScenarios } from './one-job.js';
import { raceScenarios } from './races.js';
import { restartScenarios } from './restarts.js';
import { setupScenarios } from './setup.js';

/** Stores on which all scenarios can be run, by `--store NAME`: what they can do, without their sizes. */
const stores: Readonly<Record<string, StoreCapabilities>> = { oss: { ...OSS_CAPABILITIES, minPartBytes: 1 } };
export const storeNames = Object.keys(stores);

/** The scenario with a store in its name, as `one job @oss`, on that store. */
export function onStore(scenario: Scenario, store: string | undefined): Scenario {
  const capabilities = store === undefined ? undefined : stores[store];
  if (store === undefined) return scenario;
  if (capabilities === undefined) throw new Error(`there is no store ${store}`);
  return {
    ...scenario,
    name: `${scenario.name} @${store}`,
    capabilities: { ...capabilities, ...scenario.capabilities },
  };
}

/** The two parts of such a name. */
export function nameAndStore(text: string): { readonly name: string; readonly store: string | undefined } {
  const [name = '', store] = text.split(' @');
  return { name, store };
}

/** The same scenarios on stores that can do less. */
const all = [...oneJobScenarios, ...raceScenarios, ...restartScenarios, ...setupScenarios];

function on(store: string, capabilities: Partial<StoreCapabilities>, names: readonly string[]): Scenario[] {
  return names.map((name) => {
    const scenario = all.find((each) => each.name === name);
    if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
    return {
      ...scenario,
      name: `${name}, ${store}`,
      isSmall: false,
      capabilities: { ...scenario.capabilities, ...capabilities },
    };
  });
}

export const storeScenarios: readonly Scenario[] = [
  ...on('completes only once', { idempotentComplete: false }, [
    'one job',
    'abort overlapping commit',
    'commitJob on two daemons',
    'overwrite',
    'a foreign writer during publication',
    'restart with recovery, in publication',
  ]),
  ...on('no conditional Complete', { conditionalComplete: false }, [
    'one job',
    'abort overlapping commit',
    'commitJob on two daemons',
    'restart with recovery, in publication',
  ]),
  ...on('no conditional DELETE', { conditionalDelete: false }, [
    'one job',
    'abort overlapping commit',
    'replace destination',
    'speculation with a zombie',
  ]),
  ...on(
    'as little as a store may',
    {
      idempotentComplete: false,
      conditionalComplete: false,
      conditionalDelete: false,
      listUploadsByPrefix: false,
    },
    ['one job', 'abort overlapping commit', 'restart without recovery, in publication'],
  ),
  ...['job aborted', 'abort of a committed attempt', 'commitJob on two daemons'].map((name): Scenario => {
    const [scenario] = on('pages of two', {}, [name]);
    if (scenario === undefined) throw new Error(name);
    return { ...scenario, pageSize: 2 };
  }),
];
