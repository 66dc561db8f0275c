import { cleanupScenarios } from '../../proof/scenarios/cleanup.js';
import { masterScenarios } from '../../proof/scenarios/masters.js';
import { raceScenarios } from '../../proof/scenarios/races.js';
import { restartScenarios } from '../../proof/scenarios/restarts.js';
import { setupScenarios } from '../../proof/scenarios/setup.js';
import { crashPoints } from './crash-points.js';

crashPoints(
  'aborts, restarts and what overlaps',
  [...raceScenarios, ...restartScenarios, ...masterScenarios, ...setupScenarios, ...cleanupScenarios],
  [
    'abort overlapping commit',
    'abortJob right after the decision',
    'restart with recovery, in publication',
    'AM 2 adopts, then its hook',
    'opened and died',
  ],
);
