import { appliesTo, killingModes, livingModes, type Fault } from './faults.js';
import { choicesOf, smallestChoices } from './choices.js';
import { chosenHistory, modelPlan, modelScenario } from './histories.js';
import { onStore } from './scenarios/stores.js';
import { recoveries, Stage, type Recovery, type RunPlan, type RunResult, type Scenario } from './stage.js';
import { formatReplay } from './replay.js';

/** How much of the product of requests, modes, recoveries and seeds is run. Every request is, always. */
export type Extent = 'quick' | 'normal' | 'all';

export interface Unit {
  readonly scenario: string;
  /** Of the requests, those that are `part` modulo `parts`. */
  readonly part: number;
  readonly parts: number;
}

export interface Violation {
  readonly replay: string;
  readonly triggered: readonly string[];
  readonly violations: readonly string[];
}

export interface UnitResult extends Unit {
  readonly requests: number;
  readonly runs: number;
  readonly orphans: number;
  readonly violations: number;
  /** The first few. */
  readonly examples: readonly Violation[];
}

/** After how many further requests the effect of a dead daemon's request comes; `undefined`: after all others. */
const allDelays = [1, 3, 10, undefined] as const;
const delaysOf: Readonly<Record<Extent, (turn: number) => readonly (number | undefined)[]>> = {
  quick: (turn) => [allDelays[turn % allDelays.length]],
  normal: (turn) => [allDelays[turn % allDelays.length], allDelays[(turn + 2) % allDelays.length]],
  all: () => allDelays,
};
const maxExamples = 5;

/** Runs one part of a scenario's enumeration. */
export class Enumeration {
  private runs = 0;
  private orphans = 0;
  private violations = 0;
  private readonly examples: Violation[] = [];

  constructor(
    private readonly scenario: Scenario,
    private readonly unit: Unit,
    private readonly extent: Extent,
    private readonly seeds: number,
    /** Ends at the first violation. */
    private readonly stopsEarly: boolean,
  ) {}

  async run(): Promise<UnitResult> {
    let requests = 0;
    for (let seed = 1; seed <= this.seeds && !this.isOver; seed++) {
      const base = await this.try({ seed, faults: [], recovery: 'clients', retries: true });
      const bare = await this.try({ seed, faults: [], recovery: 'clients', retries: false });
      if (seed === 1) requests = base.requests;
      // One more, for schedules on which a fault before makes the scenario ask for more.
      const last = Math.max(base.requests, bare.requests);
      for (let request = 1; request <= last && !this.isOver; request++) {
        if (request % this.unit.parts === this.unit.part) await this.failAt(seed, request, base);
      }
    }
    return {
      ...this.unit,
      requests,
      runs: this.runs,
      orphans: this.orphans,
      violations: this.violations,
      examples: this.examples,
    };
  }

  private get isOver(): boolean {
    return this.stopsEarly && this.violations > 0;
  }

  private async failAt(seed: number, request: number, base: RunResult): Promise<void> {
    const kind = base.kinds[request - 1];
    const { extent } = this;
    // Another seed changes the order of a few requests: fewer combinations of it do.
    const isReduced =
      seed > 1 && (extent === 'quick' || (extent === 'normal' && this.scenario.isRace !== true));
    for (const [index, mode] of killingModes.entries()) {
      if (isReduced && mode === 'late') continue;
      for (const [position, recovery] of recoveries.entries()) {
        if (isReduced && recovery !== 'clients') continue;
        const turn = request + index + position + seed;
        const delays = mode === 'late' ? delaysOf[extent](request + position) : [undefined];
        for (const [nth, delayRequests] of delays.entries()) {
          const fault = { request, mode, ...(delayRequests === undefined ? {} : { delayRequests }) };
          for (const retries of extent === 'all' ? [true, false] : [turn % 2 === 0]) {
            const result = await this.try({ seed, faults: [fault], recovery, retries });
            const isNext = this.scenario.isSmall === true && seed === 1 && (nth === 0 || extent === 'all');
            if (isNext) await this.failAgain(fault, { recovery, retries }, result);
          }
        }
      }
    }
    for (const mode of livingModes) {
      if (!appliesTo(mode, kind) || (isReduced && mode !== 'lost')) continue;
      for (const retries of extent === 'all' || mode === 'lost' ? [true, false] : [request % 2 === 0]) {
        await this.try({ seed, faults: [{ request, mode }], recovery: 'clients', retries });
      }
    }
    if (this.scenario.isSmall === true && this.scenario.isRace === true && seed === 1 && kind === 'complete')
      await this.arriveAnywhere(request);
  }

  /** A Complete whose daemon died arrives between any two requests of whoever is at work beside it. */
  private async arriveAnywhere(request: number): Promise<void> {
    const one = { seed: 1, recovery: 'clients', retries: false } as const;
    const { requestsAfter } = await this.try({ ...one, faults: [{ request, mode: 'late' }] });
    for (let delayRequests = 1; delayRequests <= requestsAfter && !this.isOver; delayRequests++)
      await this.try({ ...one, faults: [{ request, mode: 'late', delayRequests }] });
  }

  /**
   * The recovery, and gc, die at each of their own requests, before its effect or after it, or lose its reply. `all`
   * takes that for every first death; otherwise each request of the scenario has one recovery a mode, so that each pair
   * of requests has all three, each with another first death; `quick` takes one mode and so one of the three.
   */
  private async failAgain(
    first: Fault,
    { recovery, retries }: { readonly recovery: Recovery; readonly retries: boolean },
    single: RunResult,
  ): Promise<void> {
    const { extent } = this;
    const { request: at, mode, delayRequests } = first;
    const index = killingModes.findIndex((each) => each === mode);
    if (extent === 'all') {
      // Retries change nothing about who dies when.
      if (retries || (mode === 'late' && delayRequests !== 3)) return;
    } else {
      if (recovery !== recoveries[(at + index) % recoveries.length]) return;
      if (extent === 'quick' && index !== at % killingModes.length) return;
    }
    const seconds = ['before', 'after', 'lost'] as const;
    for (let request = 1; request <= single.requestsAfter && !this.isOver; request++) {
      for (const [turn, second] of seconds.entries()) {
        if (extent !== 'all' && (request + at + index) % seconds.length !== turn) continue;
        await this.try({ seed: 1, faults: [first, { request, mode: second }], recovery, retries });
      }
    }
  }

  private async try(plan: RunPlan): Promise<RunResult> {
    const result = await Stage.run(this.scenario, plan);
    this.runs++;
    this.orphans += result.orphans;
    if (result.violations.length > 0) {
      this.violations++;
      if (this.examples.length < maxExamples) {
        const { triggered, violations } = result;
        this.examples.push({ replay: formatReplay(this.scenario.name, plan), triggered, violations });
      }
    }
    return result;
  }
}

export const modelName = 'model';

/** Random histories: `seeds` of them, of which a unit has its part. */
export async function runModel(
  unit: Unit,
  seeds: number,
  stopsEarly: boolean,
  store: string | undefined,
): Promise<UnitResult> {
  const result = { ...unit, requests: 0, runs: 0, orphans: 0, violations: 0, examples: [] as Violation[] };
  for (let seed = 1 + unit.part; seed <= seeds; seed += unit.parts) {
    const scenario = onStore(modelScenario(seed), store);
    const plan = modelPlan(seed);
    const { triggered, violations, orphans } = await Stage.run(scenario, plan);
    result.runs++;
    result.orphans += orphans;
    if (violations.length === 0) continue;
    result.violations++;
    if (result.examples.length === 0) result.examples.push(await smallestHistory(seed, plan, store));
    if (result.examples.length < maxExamples)
      result.examples.push({ replay: formatReplay(scenario.name, plan), triggered, violations });
    if (stopsEarly) break;
  }
  return result;
}

/** A history that fails, made as small as it goes with the same faults. */
async function smallestHistory(seed: number, plan: RunPlan, store: string | undefined): Promise<Violation> {
  const run = (choices: readonly number[]): Promise<RunResult> =>
    Stage.run(onStore(chosenHistory(choices), store), plan);
  const smallest = await smallestChoices(
    choicesOf(seed),
    async (choices) => (await run(choices)).violations.length > 0,
  );
  const { triggered, violations } = await run(smallest);
  return { replay: formatReplay(onStore(chosenHistory(smallest), store).name, plan), triggered, violations };
}
