/** Numbers about the daemon. Labels have few values: no job ids, keys or buckets. */
export interface Metrics {
  count(name: string, labels?: MetricLabels, by?: number): void;
  observe(name: string, value: number, labels?: MetricLabels): void;
  gauge(name: string, value: number, labels?: MetricLabels): void;
}

export type MetricLabels = Readonly<Record<string, string>>;
