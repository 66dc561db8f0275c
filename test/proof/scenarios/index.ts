import type { Scenario } from '../stage.js';
import { carriedRaceScenarios } from './carried-races.js';
import { carriedScenarios } from './carried.js';
import { cleanupScenarios } from './cleanup.js';
import { closedFileScenarios } from './closed-files.js';
import { inlineScenarios } from './inline.js';
import { masterScenarios } from './masters.js';
import { oneJobScenarios } from './one-job.js';
import { outsideScenarios } from './outside.js';
import { raceScenarios } from './races.js';
import { restartScenarios } from './restarts.js';
import { setupScenarios } from './setup.js';
import { storeScenarios } from './stores.js';

const ordinary: readonly Scenario[] = [
  ...oneJobScenarios,
  ...inlineScenarios,
  ...closedFileScenarios,
  ...carriedScenarios,
  ...carriedRaceScenarios,
  ...raceScenarios,
  ...restartScenarios,
  ...masterScenarios,
  ...setupScenarios,
  ...cleanupScenarios,
  ...outsideScenarios,
  ...storeScenarios,
];

/** Ways in which a job is published whose pendingsets are too many for memory. */
const asLarge = [
  'several files an attempt',
  'two attempts of a task',
  'overwrite',
  'inline',
  'inline, overwrite',
  'carried, inline',
  'carried, replace',
  'commitJob on two daemons',
  'abortJob right after the decision',
  'abort overlapping commit',
  'a foreign writer during publication',
  'the hook during commitJob',
  'restart with recovery, in publication',
  'AM 2 adopts, then its hook',
];

function large(name: string): Scenario {
  const scenario = ordinary.find((each) => each.name === name);
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
  const about = `${scenario.about}; every pendingset is read again for its publication`;
  return { ...scenario, name: `${name}, nothing held`, about, heldBytes: 0 };
}

export const scenarios: readonly Scenario[] = [...ordinary, ...asLarge.map(large)];
