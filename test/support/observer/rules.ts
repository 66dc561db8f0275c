import type { RequestKind } from './request-kind.js';
import type { ObservedRequest } from './observed-request.js';

/** Which requests a rule is about; every field given must fit. */
export interface RequestMatch {
  kind?: RequestKind | readonly RequestKind[];
  /** Of the key, or of the prefix of a listing. */
  key?: RegExp | string;
  bucket?: string;
  who?: string;
  where?: (request: ObservedRequest) => boolean;
  /** Only the nth fitting request since the rule was set, counted from 1. */
  nth?: number;
  /** At most so many; without it, all. */
  times?: number;
}

/** What to do with a request instead of passing it on, or with a reply instead of handing it over. */
export type Verdict =
  | { do: 'pass' }
  | { do: 'respond'; status: number; body?: string; headers?: Record<string, string> }
  | { do: 'drop' };

/**
 * An intervention. `before` runs when the request has arrived whole (bodies over 8 MiB: its head) and isn't passed on
 * until it has returned; `after` runs when the server has answered in full, with the effect done, and the reply is
 * withheld meanwhile. Nothing returned means `pass`.
 */
export interface Intervention {
  before?: (request: ObservedRequest) => Verdict | undefined | Promise<Verdict | undefined>;
  after?: (request: ObservedRequest) => Verdict | undefined | Promise<Verdict | undefined>;
}

/** A rule that was set. */
export class Rule {
  /** How many requests it has met (of those, `nth` and `times` select). */
  seen = 0;
  /** How many it has applied to. */
  applied = 0;

  constructor(
    private readonly match: RequestMatch,
    readonly intervention: Intervention,
    private readonly onRemove: (rule: Rule) => void,
  ) {}

  /** Says whether it applies to this request, and counts it. */
  take(request: ObservedRequest): boolean {
    if (!matches(this.match, request)) return false;
    this.seen += 1;
    if (this.match.nth !== undefined && this.seen !== this.match.nth) return false;
    if (this.match.times !== undefined && this.applied >= this.match.times) return false;
    this.applied += 1;
    return true;
  }

  remove(): void {
    this.onRemove(this);
  }
}

export function matches(match: RequestMatch, request: ObservedRequest): boolean {
  if (match.kind !== undefined && ![match.kind].flat().includes(request.kind)) return false;
  if (match.bucket !== undefined && match.bucket !== request.bucket) return false;
  if (match.who !== undefined && match.who !== request.who) return false;
  if (match.key !== undefined) {
    const key = request.key === '' ? (request.prefix ?? '') : request.key;
    if (typeof match.key === 'string' ? match.key !== key : !match.key.test(key)) return false;
  }
  return match.where?.(request) ?? true;
}

/** One request that is held, before it reaches the server or before its reply goes back. */
export class Hold {
  /** Resolves when the request is held. */
  readonly held: Promise<ObservedRequest>;
  private readonly verdict: Promise<Verdict>;
  private decide!: (verdict: Verdict) => void;
  private arrive!: (request: ObservedRequest) => void;

  constructor() {
    this.held = new Promise((resolve) => {
      this.arrive = resolve;
    });
    this.verdict = new Promise((resolve) => {
      this.decide = resolve;
    });
  }

  /** Lets it go on; a request that arrived whole is passed on even if its sender is dead by now. */
  release(): void {
    this.decide({ do: 'pass' });
  }

  /** Answers in the server's stead. */
  fail(status: number, body?: string): void {
    this.decide({ do: 'respond', status, ...(body === undefined ? {} : { body }) });
  }

  /** Closes the connection without an answer. */
  drop(): void {
    this.decide({ do: 'drop' });
  }

  /** For the rule that holds. */
  async hold(request: ObservedRequest): Promise<Verdict> {
    this.arrive(request);
    return this.verdict;
  }
}

/** The body of an S3 error. */
export function errorBody(code: string, message: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
}
