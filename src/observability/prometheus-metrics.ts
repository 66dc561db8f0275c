import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Logger } from '../ports/logger.js';
import type { MetricLabels, Metrics } from '../ports/metrics.js';
import { metricDefinitions } from './metric-definitions.js';

/**
 * Metrics for a Prometheus scrape. A metric comes into being at its first use, with the labels of that use; later
 * uses with other labels are dropped and logged once, since a number must never fail a call.
 */
export class PrometheusMetrics implements Metrics {
  private readonly registry = new Registry();
  private readonly counters = new Map<string, Counter>();
  private readonly gauges = new Map<string, Gauge>();
  private readonly histograms = new Map<string, Histogram>();
  private readonly reported = new Set<string>();

  constructor(private readonly logger: Logger) {
    collectDefaultMetrics({ register: this.registry });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  async render(): Promise<string> {
    return this.registry.metrics();
  }

  count(name: string, labels: MetricLabels = {}, by = 1): void {
    this.guarded(name, () => {
      const counter = getOrMake(this.counters, name, () => new Counter(this.describe(name, labels)));
      counter.inc(labels, by);
    });
  }

  observe(name: string, value: number, labels: MetricLabels = {}): void {
    this.guarded(name, () => {
      const histogram = getOrMake(this.histograms, name, () => {
        const buckets = metricDefinitions[name]?.buckets;
        const description = this.describe(name, labels);
        return new Histogram(buckets === undefined ? description : { ...description, buckets: [...buckets] });
      });
      histogram.observe(labels, value);
    });
  }

  gauge(name: string, value: number, labels: MetricLabels = {}): void {
    this.guarded(name, () => {
      getOrMake(this.gauges, name, () => new Gauge(this.describe(name, labels))).set(labels, value);
    });
  }

  private describe(name: string, labels: MetricLabels) {
    return {
      name,
      help: metricDefinitions[name]?.help ?? name,
      labelNames: Object.keys(labels),
      registers: [this.registry],
    };
  }

  private guarded(name: string, use: () => void): void {
    try {
      use();
    } catch (error) {
      if (this.reported.has(name)) return;
      this.reported.add(name);
      this.logger.warn('metric dropped', { metric: name, error });
    }
  }
}

function getOrMake<T>(map: Map<string, T>, name: string, make: () => T): T {
  let value = map.get(name);
  if (value === undefined) {
    value = make();
    map.set(name, value);
  }
  return value;
}
