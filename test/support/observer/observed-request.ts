import { requestKinds, type ClassifiedRequest, type RequestKind } from './request-kind.js';

/** One request, as the log keeps it. */
export interface ObservedRequest extends ClassifiedRequest {
  /** From 1, in the order of arrival. */
  seq: number;
  /** The tag that the observer's `who` gave it, else ''. */
  who: string;
  method: string;
  /** Path and query as sent. */
  target: string;
  /** When it arrived, in ms since the epoch. */
  at: number;
  /** What the server answered; missing as long as it hasn't, and for what never reached it. */
  status?: number;
  /** What became of it for the sender; missing while it is under way. */
  outcome?: 'answered' | 'answered_by_rule' | 'dropped' | 'sender_gone' | 'server_unreachable';
  durationMs?: number;
}

export type RequestCounts = Partial<Record<RequestKind, number>>;

/** Counts by kind, in the order of the kinds, without zeros. */
export function countByKind(requests: Iterable<ObservedRequest>): RequestCounts {
  const counts = new Map<RequestKind, number>();
  for (const { kind } of requests) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return Object.fromEntries(
    requestKinds.filter((kind) => counts.has(kind)).map((kind) => [kind, counts.get(kind)]),
  );
}
