import { writeSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RequestKind } from '../../../src/adapters/decorators/intercepted-store.js';
import { appliesTo, killingModes, livingModes, type Fault } from '../../proof/faults.js';
import { formatReplay } from '../../proof/replay.js';
import { onStore } from '../../proof/scenarios/stores.js';
import { recoveries, Stage, type RunPlan, type RunResult, type Scenario } from '../../proof/stage.js';
import { DoubleSite } from './double-site.js';

const isAll = process.env['COMMITBRIDGE_TEST_ALL'] === '1';

/** A scenario of the proof on the adapter `oss`, over HTTP to a double of OSS. */
export async function runOnDouble(scenario: Scenario, plan: RunPlan): Promise<RunResult> {
  const site = await DoubleSite.start();
  try {
    return await Stage.run(scenario, plan, site.makeStore);
  } finally {
    await site.stop();
  }
}

/**
 * What fails at the nth request of a scenario. Of `chosen` ones the daemon dies before the request or after it, its reply
 * or the request itself is lost, and the keys that a put or a delete was signed with end on its way; with `npm run
 * test:oss` and `npm run test:all` each way to fail is tried, and two recoveries for each death. Of others it is one way a
 * request, each in its turn.
 */
export function plansAt(request: number, kind: RequestKind | undefined, isChosen: boolean): RunPlan[] {
  const plan = (mode: Fault['mode'], turn: number): RunPlan => ({
    seed: 1,
    faults: [{ request, mode, ...(mode === 'late' ? { delayRequests: 1 + (turn % 4) } : {}) }],
    recovery: isKilling(mode) ? recoveries[turn % recoveries.length]! : 'clients',
    retries: turn % 2 === 0,
  });
  const all = [...killingModes, ...livingModes];
  if (!isChosen) return [plan(all[request % all.length]!, request)];
  if (!isAll) {
    const isFenced = kind === 'put' || kind === 'delete';
    const some = ['before', 'after', 'lost', 'failed', ...(isFenced ? (['expired'] as const) : [])] as const;
    return some.map((mode, index) => plan(mode, request + index));
  }
  return all.flatMap((mode, index) =>
    isKilling(mode)
      ? [plan(mode, request + index), plan(mode, request + index + 2)]
      : [plan(mode, request + index)],
  );
}

function isKilling(mode: Fault['mode']): boolean {
  return killingModes.some((each) => each === mode);
}

/** A test a scenario: what fails at each of its requests, and that it holds when nothing does. */
export function crashPoints(
  name: string,
  scenarios: readonly Scenario[],
  chosenNames: readonly string[],
): void {
  const isChosen = ({ name: of }: Scenario): boolean => chosenNames.includes(of);
  const tested = isAll ? scenarios : scenarios.filter(isChosen);
  describe(`${name}, on the adapter oss and a double`, { timeout: 1_800_000 }, () => {
    it('has the scenarios that are named', () => {
      expect(scenarios.filter(isChosen).map((each) => each.name)).toHaveLength(chosenNames.length);
    });

    it.each(tested.map((scenario) => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
      const onOss = onStore(scenario, 'oss');
      const base = await runOnDouble(onOss, { seed: 1, faults: [], recovery: 'clients', retries: true });
      expect(base.violations).toEqual([]);
      const violated: string[] = [];
      let [runs, faults] = [0, 0];
      for (let request = 1; request <= base.requests; request++) {
        for (const plan of plansAt(request, base.kinds[request - 1], isChosen(scenario))) {
          if (!plan.faults.every(({ mode }) => appliesTo(mode, base.kinds[request - 1]))) continue;
          const { violations, triggered } = await runOnDouble(onOss, plan);
          runs++;
          if (triggered.length > 0) faults++;
          for (const violation of violations)
            violated.push(`${formatReplay(onOss.name, plan)}: ${triggered.join()}: ${violation}`);
        }
      }
      writeSync(2, `  ${scenario.name}: ${base.requests} requests, ${runs} runs, ${faults} of them failed\n`);
      expect(violated).toEqual([]);
      // Where a fault before makes it ask for less, the last ones are missing.
      expect(faults).toBeGreaterThan(runs * 0.9);
    });
  });
}
