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

export const scenarios: readonly Scenario[] = [
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
