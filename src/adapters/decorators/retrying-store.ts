import type { Clock, Random } from '../../ports/clock.js';
import type { Metrics } from '../../ports/metrics.js';
import type { CallOptions, ObjectStore } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';
import { InterceptedStore } from './intercepted-store.js';
import type { Send, StoreRequest } from './intercepted-store.js';
import { withDeadline } from './deadline.js';

export interface RetryOptions {
  /** Attempts at one request, the first included; more where the call is patient. */
  readonly attempts: number;
  /** Longest wait before the second attempt; it doubles. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** No further attempt begins later than this after the first one. */
  readonly maxTotalMs?: number;
}

export interface RetryParts {
  readonly store: string;
  readonly clock: Clock;
  readonly random: Pick<Random, 'fraction'>;
  readonly metrics: Metrics;
}

/**
 * Repeats a request whose failure may pass: exponential waits with full jitter, or as long as the store asked for.
 * With expired credentials it tries once more, since the adapter has fetched them again; but not with what was signed
 * before, which carries the old ones: its caller signs again.
 *
 * All requests are repeated, also those whose first attempt may have had an effect unheard of:
 * - A repeated `initiate` may leave an upload behind that nobody knows; such repetitions are counted.
 * - What ends things (`complete`, `abort`, `delete`, conditional `put`) may find its own success, and hears
 *   `no-such-upload`, `precondition-failed` or `absent`. Nobody can tell that here: errors carry
 *   `afterAmbiguousAttempt`, and the caller looks at what is there. For `absent` it makes no difference.
 * - The rest comes to the same, however often it is done.
 */
export class RetryingStore extends InterceptedStore {
  constructor(
    inner: ObjectStore,
    private readonly options: RetryOptions,
    private readonly parts: RetryParts,
  ) {
    super(inner);
  }

  protected around<T>(request: StoreRequest, call: CallOptions, send: Send<T>): Promise<T> {
    const { withinMs } = call;
    if (withinMs === undefined) return this.attempts(request, call, send);
    return withDeadline(this.parts.clock, withinMs, call, (limited) => this.attempts(request, limited, send));
  }

  private async attempts<T>(request: StoreRequest, call: CallOptions, send: Send<T>): Promise<T> {
    const startedMs = this.parts.clock.monotonicMs();
    let isAmbiguous = false;
    let isRefreshed = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send(call);
      } catch (thrown) {
        if (!(thrown instanceof StoreError)) throw thrown;
        const error = isAmbiguous ? afterAmbiguousAttempt(thrown) : thrown;
        if (error.kind === 'expired-credentials' && !isRefreshed && !request.isPrepared) {
          isRefreshed = true;
        } else {
          if (!error.isTransient) throw error;
          isAmbiguous = true;
          const waitMs = this.waitMs(attempt, error);
          const laterMs = this.parts.clock.monotonicMs() - startedMs + waitMs;
          if (laterMs > (this.options.maxTotalMs ?? Infinity)) throw error;
          if (attempt >= this.options.attempts && laterMs > (call.patienceMs ?? 0)) throw error;
          await this.wait(waitMs, call, error);
        }
        this.count(request, error);
      }
    }
  }

  private waitMs(attempt: number, { details }: StoreError): number {
    const { baseDelayMs, maxDelayMs } = this.options;
    const ceilingMs = Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1));
    return Math.max(this.parts.random.fraction() * ceilingMs, details.retryAfterMs ?? 0);
  }

  private async wait(ms: number, { signal }: CallOptions, error: StoreError): Promise<void> {
    try {
      await this.parts.clock.sleep(ms, signal);
    } catch (reason) {
      throw new StoreError('cancelled', `cancelled between two attempts: ${error.message}`, {
        afterAmbiguousAttempt: true,
        cause: reason,
      });
    }
  }

  private count({ kind }: StoreRequest, error: StoreError): void {
    const { store, metrics } = this.parts;
    metrics.count('commitbridge_store_retries_total', { store, op: kind, reason: error.kind });
    if (kind === 'initiate' && (error.kind === 'timeout' || error.kind === 'unavailable')) {
      metrics.count('commitbridge_store_uploads_maybe_orphaned_total', { store });
    }
  }
}

function afterAmbiguousAttempt(error: StoreError): StoreError {
  return new StoreError(error.kind, error.message, { ...error.details, afterAmbiguousAttempt: true });
}
