import type { Observer, ObservedRequest, RequestMatch, Rule, Verdict } from '../../support/observer/index.js';

/** Holds every request that fits, from the nth on, until it is opened or shut for good. */
export class Gate {
  /** Resolves with the first that is held. */
  readonly reached: Promise<ObservedRequest>;
  /** How many it holds or has held. */
  held = 0;
  private readonly rule: Rule;
  private readonly verdict: Promise<Verdict>;
  private decide!: (verdict: Verdict) => void;

  constructor(observer: Observer, match: RequestMatch, from = 1) {
    this.verdict = new Promise((resolve) => {
      this.decide = resolve;
    });
    let arrive: (request: ObservedRequest) => void;
    this.reached = new Promise((resolve) => {
      arrive = resolve;
    });
    let seen = 0;
    this.rule = observer.on(match, (request) => {
      if (++seen < from) return undefined;
      this.held += 1;
      arrive(request);
      return this.verdict;
    });
  }

  /** Lets all of them go on, and those to come. */
  open(): void {
    this.rule.remove();
    this.decide({ do: 'pass' });
  }

  /** They never reach the store; those to come do. */
  drop(): void {
    this.rule.remove();
    this.decide({ do: 'drop' });
  }
}
