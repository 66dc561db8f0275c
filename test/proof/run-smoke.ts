import { oneJobScenarios } from './scenarios/one-job.js';
import { restartScenarios } from './scenarios/restarts.js';
import { raceScenarios } from './scenarios/races.js';
import { Stage, recoveries } from './stage.js';
import { faultModes } from './faults.js';
let runs = 0,
  bad = 0;
const t0 = Date.now();
const only = process.argv[2];
for (const sc of [...oneJobScenarios, ...restartScenarios, ...raceScenarios]) {
  if (only && !sc.name.startsWith(only)) continue;
  const base = await Stage.run(sc, { seed: 1, faults: [], recovery: 'clients', retries: true });
  let mine = 0;
  const before = bad;
  if (base.violations.length) bad++;
  console.log(sc.name, base.requests, base.violations);
  for (let seed = 1; seed <= 2; seed++)
    for (let k = 1; k <= base.requests; k++)
      for (const mode of faultModes)
        for (const recovery of recoveries)
          for (const retries of [true, false]) {
            if ((mode === 'lost' || mode === 'failed') && recovery !== 'clients') continue;
            if (seed > 1 && retries) continue;
            const r = await Stage.run(sc, {
              seed,
              faults: [{ request: k, mode, ...(mode === 'late' ? { delayRequests: 3 } : {}) }],
              recovery,
              retries,
            });
            runs++;
            if (r.violations.length) {
              bad++;
              if (mine++ < 6)
                console.log(
                  '  k',
                  k,
                  mode,
                  recovery,
                  retries,
                  seed,
                  r.triggered.join(),
                  r.violations.slice(0, 3),
                );
            }
          }
  if (bad > before) console.log('   =>', bad - before);
}
console.log({ runs, bad, ms: Date.now() - t0 });
