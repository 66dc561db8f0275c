import type { RootConfig } from '../config/config.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { ObjectStore } from '../ports/object-store.js';
import { explain } from './check-root.js';
import { distinctStagings } from './staging-probe.js';

export interface StoreWatchDeps {
  readonly roots: readonly RootConfig[];
  readonly stores: ReadonlyMap<string, ObjectStore>;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Lists each staging root now and then, so that readiness knows whether the stores answer. */
export class StoreWatch {
  /** Staging root → why it doesn't answer. */
  private readonly down = new Map<string, string>();

  constructor(private readonly deps: StoreWatchDeps) {}

  /** A sentence where a store didn't answer the last time. */
  get problem(): string | undefined {
    return [...this.down.values()][0];
  }

  /** Until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const root of distinctStagings(this.deps.roots)) await this.look(root, signal);
      try {
        await this.deps.clock.sleep(this.deps.intervalMs, signal);
      } catch {
        return;
      }
    }
  }

  private async look(root: RootConfig, signal: AbortSignal): Promise<void> {
    const store = this.deps.stores.get(root.store);
    const { bucket, key } = root.staging;
    const name = `${root.store} ${bucket}/${key}`;
    try {
      await store?.list(bucket, `${key}/`, { maxKeys: 1 }, { signal });
      if (this.down.delete(name)) this.deps.logger.info('store answers again', { store: root.store, bucket });
      this.deps.metrics.gauge('commitbridge_store_up', 1, { store: root.store });
    } catch (error) {
      if (signal.aborted) return;
      const why = explain(error, root).message;
      if (!this.down.has(name)) {
        this.deps.logger.warn('store does not answer', { store: root.store, bucket, why });
      }
      this.down.set(name, `store ${root.store} does not answer for bucket ${bucket}`);
      this.deps.metrics.gauge('commitbridge_store_up', 0, { store: root.store });
    }
  }
}
