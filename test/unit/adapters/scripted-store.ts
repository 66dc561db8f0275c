import { MemoryObjectStore } from '../../../src/adapters/memory/memory-object-store.js';
import { InterceptedStore } from '../../../src/adapters/decorators/intercepted-store.js';
import type { RequestKind, Send, StoreRequest } from '../../../src/adapters/decorators/intercepted-store.js';
import type { CallOptions, StoreErrorKind } from '../../../src/ports/object-store.js';
import { StoreError } from '../../../src/ports/object-store.js';
import type { MetricLabels, Metrics } from '../../../src/ports/metrics.js';

/** What happens to the next request: it fails before or after its effect, or never ends. */
export type Step =
  | { readonly fail: StoreErrorKind; readonly after?: boolean; readonly retryAfterMs?: number }
  | 'hang'
  | 'pass';

/** A memory store that does to its requests what a script says, and then nothing more. */
export class ScriptedStore extends InterceptedStore {
  readonly seen: RequestKind[] = [];
  readonly signals: (AbortSignal | undefined)[] = [];
  underWay = 0;
  readonly memory: MemoryObjectStore;

  constructor(private readonly script: Step[] = []) {
    const memory = new MemoryObjectStore({ buckets: ['b'] });
    super(memory);
    this.memory = memory;
  }

  protected async around<T>({ kind }: StoreRequest, call: CallOptions, send: Send<T>): Promise<T> {
    this.seen.push(kind);
    this.signals.push(call.signal);
    const step = this.script.shift() ?? 'pass';
    this.underWay += 1;
    try {
      if (step === 'hang') return await this.hang(call);
      if (step !== 'pass') {
        if (step.after === true) await send({});
        throw new StoreError(step.fail, `scripted ${step.fail}`, {
          ...(step.retryAfterMs !== undefined && { retryAfterMs: step.retryAfterMs }),
        });
      }
      return await send(call);
    } finally {
      this.underWay -= 1;
    }
  }

  private hang(call: CallOptions): Promise<never> {
    return new Promise((_, reject) => {
      call.signal?.addEventListener('abort', () => reject(new StoreError('cancelled', 'by its signal')));
    });
  }
}

/** Keeps what was counted, as `name{label=value,…}`. */
export class RecordedMetrics implements Metrics {
  readonly counts = new Map<string, number>();
  readonly observed = new Map<string, number[]>();

  count(name: string, labels: MetricLabels = {}, by = 1): void {
    const series = seriesOf(name, labels);
    this.counts.set(series, (this.counts.get(series) ?? 0) + by);
  }

  observe(name: string, value: number, labels: MetricLabels = {}): void {
    const series = seriesOf(name, labels);
    this.observed.set(series, [...(this.observed.get(series) ?? []), value]);
  }

  gauge(): void {
    // No decorator has a gauge.
  }
}

function seriesOf(name: string, labels: MetricLabels): string {
  const text = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  return `${name}{${text.join(',')}}`;
}
