import type { Clock } from '../../ports/clock.js';
import type { Metrics } from '../../ports/metrics.js';
import type { CallOptions, ObjectStore } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';
import { InterceptedStore } from './intercepted-store.js';
import type { RequestKind, Send, StoreRequest } from './intercepted-store.js';

export interface MeterParts {
  /** The store's name in the configuration. */
  readonly store: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly metrics: Metrics;
}

/** Counts requests by kind and result, and takes their time. */
export class MeteredStore extends InterceptedStore {
  constructor(
    inner: ObjectStore,
    private readonly parts: MeterParts,
  ) {
    super(inner);
  }

  protected async around<T>({ kind }: StoreRequest, call: CallOptions, send: Send<T>): Promise<T> {
    const startedMs = this.parts.clock.monotonicMs();
    try {
      const answer = await send(call);
      // An answer, not a failure; but who reads the numbers wants to tell the two apart.
      const isAbsent = kind === 'get' && answer === undefined;
      this.record(kind, isAbsent ? 'not-found' : 'ok', startedMs);
      return answer;
    } catch (error) {
      this.record(kind, error instanceof StoreError ? error.kind : 'error', startedMs);
      throw error;
    }
  }

  private record(kind: RequestKind, result: string, startedMs: number): void {
    const { store, clock, metrics } = this.parts;
    const op = kind === 'get_stream' ? 'get' : kind;
    metrics.count('commitbridge_store_requests_total', { store, op, result });
    const seconds = (clock.monotonicMs() - startedMs) / 1_000;
    metrics.observe('commitbridge_store_request_duration_seconds', seconds, { store, op });
  }
}
