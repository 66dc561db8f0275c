import { setTimeout as sleep } from 'node:timers/promises';
import { countByKind, type ObservedRequest, type RequestCounts } from './observed-request.js';
import type { ClassifiedRequest } from './request-kind.js';
import { Hold, matches, Rule, type Intervention, type RequestMatch, type Verdict } from './rules.js';

/** Tags a request, for counting apart, for example what goes to the staging prefix. */
export type Tagger = (request: ObservedRequest) => string;

/** What a proxy or a double has seen, and what a test has told it to do with requests to come. */
export abstract class RequestLog {
  readonly requests: ObservedRequest[] = [];
  protected inFlight = 0;
  private readonly rules: Rule[] = [];
  private readonly waiters = new Set<(request: ObservedRequest) => void>();

  protected constructor(private readonly who: Tagger | undefined) {}

  // --- what was seen ---

  /** Counts by kind of the requests that fit, since `since` (a `seq`; that one not included). */
  counts(match: RequestMatch = {}, since = 0): RequestCounts {
    return countByKind(this.select(match, since));
  }

  /** Counts by tag and kind. */
  countsByWho(since = 0): Record<string, RequestCounts> {
    const tags = [...new Set(this.requests.map((request) => request.who))].sort();
    return Object.fromEntries(tags.map((who) => [who, this.counts({ who }, since)]));
  }

  /** The requests that fit, in the order of arrival. */
  select(match: RequestMatch = {}, since = 0): ObservedRequest[] {
    return this.requests.filter((request) => request.seq > since && matches(match, request));
  }

  /** The number of the last request so far, for `since`. */
  get lastSeq(): number {
    return this.requests.length;
  }

  /** The first fitting request after `since`: one that was seen already, or the next. */
  async seen(match: RequestMatch, since = 0): Promise<ObservedRequest> {
    const wanted = match.nth ?? 1;
    const past = this.select(match, since);
    const found = past[wanted - 1];
    if (found !== undefined) return found;
    let missing = wanted - past.length;
    return new Promise((resolve) => {
      const waiter = (request: ObservedRequest): void => {
        if (!matches(match, request) || --missing > 0) return;
        this.waiters.delete(waiter);
        resolve(request);
      };
      this.waiters.add(waiter);
    });
  }

  /** Resolves when no request has been under way for `quietMs`. */
  async idle(quietMs = 200): Promise<void> {
    for (let since = Date.now(), seq = this.lastSeq; Date.now() - since < quietMs;) {
      await sleep(20);
      if (this.inFlight > 0 || this.lastSeq !== seq) {
        since = Date.now();
        seq = this.lastSeq;
      }
    }
  }

  // --- interventions ---

  /** Sets a rule; the first set that fits a request is the one that applies. A function stands for `before`. */
  on(match: RequestMatch, action: Intervention | NonNullable<Intervention['before']>): Rule {
    const intervention = typeof action === 'function' ? { before: action } : action;
    const rule = new Rule(match, intervention, (gone) => {
      const index = this.rules.indexOf(gone);
      if (index >= 0) this.rules.splice(index, 1);
    });
    this.rules.push(rule);
    return rule;
  }

  /** Holds one request (the first that fits, or the nth) before it is passed on. */
  holdBefore(match: RequestMatch): Hold {
    const hold = new Hold();
    this.on({ nth: 1, ...match }, { before: (request) => hold.hold(request) });
    return hold;
  }

  /** Passes one request on, and holds the reply: the effect has happened, the sender doesn't know. */
  holdAfter(match: RequestMatch): Hold {
    const hold = new Hold();
    this.on({ nth: 1, ...match }, { after: (request) => hold.hold(request) });
    return hold;
  }

  /** Answers in the server's stead; the request doesn't reach it. */
  respond(match: RequestMatch, status: number, body?: string, headers?: Record<string, string>): Rule {
    const verdict: Verdict = {
      do: 'respond',
      status,
      ...(body === undefined ? {} : { body }),
      ...(headers === undefined ? {} : { headers }),
    };
    return this.on(match, { before: () => verdict });
  }

  /** Passes on, then closes the connection instead of handing over the reply. */
  dropReply(match: RequestMatch): Rule {
    return this.on(match, { after: () => ({ do: 'drop' }) });
  }

  /** Closes the connection instead of passing on. */
  dropRequest(match: RequestMatch): Rule {
    return this.on(match, { before: () => ({ do: 'drop' }) });
  }

  /** Passes on after a while. */
  delay(match: RequestMatch, delayMs: number): Rule {
    return this.on(match, {
      before: async () => {
        await sleep(delayMs);
        return undefined;
      },
    });
  }

  /** Removes all rules; requests held now stay held. */
  clearRules(): void {
    this.rules.length = 0;
  }

  // --- for subclasses ---

  /** Enters a request that has arrived. */
  protected enter(classified: ClassifiedRequest, method: string, target: string): ObservedRequest {
    const entry: ObservedRequest = {
      ...classified,
      seq: this.requests.length + 1,
      who: '',
      method,
      target,
      at: Date.now(),
    };
    entry.who = this.who?.(entry) ?? '';
    this.requests.push(entry);
    for (const waiter of [...this.waiters]) waiter(entry);
    return entry;
  }

  /** The first rule that applies to a request; it counts as applied. */
  protected takeRule(entry: ObservedRequest): Rule | undefined {
    return this.rules.find((candidate) => candidate.take(entry));
  }
}
