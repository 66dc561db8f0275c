// npm run check: the part of npm test that takes less than two minutes and needs nothing but Node.js.
import { stopOnSignals } from './lib/run.mjs';
import { runSuites } from './lib/run-suites.mjs';

stopOnSignals();
await runSuites(['check', 'unit'], 'npm run check');
