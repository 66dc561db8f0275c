import { closedFileScenarios } from '../../proof/scenarios/closed-files.js';
import { inlineScenarios } from '../../proof/scenarios/inline.js';
import { oneJobScenarios } from '../../proof/scenarios/one-job.js';
import { outsideScenarios } from '../../proof/scenarios/outside.js';
import { storeScenarios } from '../../proof/scenarios/stores.js';
import { crashPoints } from './crash-points.js';

crashPoints(
  'what one job does',
  [...oneJobScenarios, ...inlineScenarios, ...closedFileScenarios, ...outsideScenarios, ...storeScenarios],
  [
    'one job',
    'several files an attempt',
    'overwrite',
    'replace destination',
    'inline',
    'inline, overwrite',
    'job aborted',
  ],
);
