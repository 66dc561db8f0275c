import { setTimeout as sleep } from 'node:timers/promises';
import type { Observer, ObservedRequest, RequestMatch, Rule, Verdict } from '../../support/observer/index.js';

/**
 * Holds every request that fits, from the nth on, until it is opened or shut for good. A sender that loses patience
 * and asks again is held again.
 */
export class Gate {
  /** Resolves with the first that is held. */
  readonly reached: Promise<ObservedRequest>;
  /** What it holds or has held. */
  readonly held: ObservedRequest[] = [];
  private readonly rule: Rule;
  private readonly verdict: Promise<Verdict>;
  private decide!: (verdict: Verdict) => void;

  /** `sameKey`: only requests for the key of the first that it meets. */
  constructor(observer: Observer, match: RequestMatch, { from = 1, sameKey = false } = {}) {
    this.verdict = new Promise((resolve) => {
      this.decide = resolve;
    });
    let arrive: (request: ObservedRequest) => void;
    this.reached = new Promise((resolve) => {
      arrive = resolve;
    });
    let seen = 0;
    this.rule = observer.on(match, (request) => {
      if (++seen < from || (sameKey && request.key !== (this.held[0] ?? request).key)) return undefined;
      this.held.push(request);
      arrive(request);
      return this.verdict;
    });
  }

  /** Lets all of them go on, and those to come. */
  open(): void {
    this.rule.remove();
    this.decide({ do: 'pass' });
  }

  /** Resolves when everything that was held has come to its end. */
  async settled(): Promise<void> {
    while (this.held.some(({ outcome }) => outcome === undefined)) await sleep(20);
  }

  /** They never reach the store; those to come do. */
  drop(): void {
    this.rule.remove();
    this.decide({ do: 'drop' });
  }
}
