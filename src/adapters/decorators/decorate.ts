import type { Clock, Random } from '../../ports/clock.js';
import type { Metrics } from '../../ports/metrics.js';
import type { ObjectStore } from '../../ports/object-store.js';
import { LimitedStore } from './limited-store.js';
import type { LimitOptions } from './limited-store.js';
import { MeteredStore } from './metered-store.js';
import { RetryingStore } from './retrying-store.js';
import type { RetryOptions } from './retrying-store.js';
import { TimeoutStore } from './timeout-store.js';
import type { TimeoutOptions } from './timeout-store.js';

export interface DecorateOptions {
  /** The store's name in the configuration: a label of its metrics. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Pick<Random, 'fraction'>;
  readonly metrics: Metrics;
  readonly retry: RetryOptions;
  readonly limit: LimitOptions;
  readonly timeout: TimeoutOptions;
}

/**
 * A store as the engine uses it: retry ( limit ( meter ( timeout ( adapter ) ) ) ).
 *
 * - Retry is outermost: a request that waits for its next attempt holds no slot, and queues again.
 * - Limit is outside of the timeout: the deadline says how long a request is under way at the store, which is what
 *   the protocol counts on, and waiting for a slot isn't that. Who needs a bound of the whole uses `withinMs`.
 * - The meter sees each attempt, without the time in the queue, and a timeout as `timeout`.
 * - Timeout is innermost: its signal reaches the adapter and ends the request.
 */
export function decorate(adapter: ObjectStore, options: DecorateOptions): ObjectStore {
  const { name: store, clock, random, metrics } = options;
  const timed = new TimeoutStore(adapter, options.timeout, clock);
  const metered = new MeteredStore(timed, { store, clock, metrics });
  const limited = new LimitedStore(metered, options.limit);
  return new RetryingStore(limited, options.retry, { store, clock, random, metrics });
}
