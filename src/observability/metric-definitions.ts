/** What is known about the metrics by name; one that isn't here is exposed with its name as help. */
export interface MetricDefinition {
  readonly help: string;
  /** Of histograms, in the metric's unit. */
  readonly buckets?: readonly number[];
}

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const callSeconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800];

export const metricDefinitions: Readonly<Record<string, MetricDefinition>> = {
  // OpenTelemetry's `rpc.server.call.duration`, as Prometheus writes it.
  rpc_server_call_duration_seconds: { help: 'Time to answer a call.', buckets: callSeconds },
  commitbridge_rpcs_in_flight: { help: 'Calls that are being answered.' },
  commitbridge_build_info: { help: 'Always 1; the version is a label.' },
  commitbridge_store_up: { help: '1 where the store answered the last time it was asked, otherwise 0.' },
  commitbridge_store_requests_total: { help: 'Requests to a store, by kind and result.' },
  commitbridge_store_request_duration_seconds: {
    help: 'Time that a store took to answer a request.',
    buckets: requestSeconds,
  },
  commitbridge_store_retries_total: { help: 'Store requests that were repeated, by reason.' },
  commitbridge_job_commit_duration_seconds: { help: 'Time of a CommitJob, by result.', buckets: callSeconds },
  commitbridge_task_commits_total: { help: 'Task attempts committed, by result.' },
  commitbridge_errors_total: { help: 'Errors answered to clients, by reason.' },
};
