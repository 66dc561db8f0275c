/** The steps of a job file, as `java-shim/it` reads it; see `WriteStep`, `ReadStep`, `RowFault`, `MatrixStep` there. */
export type SparkStep =
  WriteStep | ReadStep | SaveStep | RddStep | V2Step | SqlStep | LoadStep | RegistryStep;

export type SparkFormat = 'parquet' | 'csv' | 'json' | 'orc' | 'text';

export interface WriteStep {
  do: 'write';
  path: string;
  format: SparkFormat;
  rows: number;
  tasks: number;
  mode?: 'append' | 'overwrite' | 'errorifexists' | 'ignore';
  /** The first id; the others follow. */
  first?: number;
  /** The name of a partition column, which holds the id modulo `partitions` (3). */
  partition_by?: string;
  partitions?: number;
  value_bytes?: number;
  /** Of the DataFrameWriter. */
  options?: Record<string, string>;
  fault?: RowFault;
  /** Says what its phases took; no other step may run meanwhile. */
  times?: boolean;
  conf?: StepConf;
}

/**
 * Configuration of one step alone: what a session of its own can have, with Hadoop's keys under their own names
 * (without `spark.hadoop.`).
 */
export type StepConf = Record<string, string>;

/** A task fails in the middle of its rows. */
export interface RowFault {
  /** All tasks if missing. */
  task?: number;
  /** How many attempts of it fail: 1. Spark gives up after 4 (local[N]: after the first). */
  attempts?: number;
  /** `kill` is -9 to the executor’s JVM. */
  how?: 'throw' | 'kill';
}

export interface ReadStep {
  do: 'read';
  path: string;
  format: SparkFormat;
  value_bytes?: number;
  conf?: StepConf;
}

/** Any write of a DataFrameWriter. */
export interface SaveStep {
  do: 'save';
  query: string;
  format: SparkFormat;
  path: string;
  mode?: 'append' | 'overwrite' | 'errorifexists';
  partition_by?: string;
  options?: Record<string, string>;
  /** By `saveAsTable`. */
  table?: string;
  buckets?: number;
  bucket_by?: string;
  conf?: StepConf;
}

export interface RddStep {
  do: 'rdd';
  call: 'saveAsTextFile' | 'saveAsHadoopFile' | 'saveAsNewAPIHadoopFile' | 'saveAsNewAPIHadoopDataset';
  path: string;
  lines: number;
  tasks: number;
  /** Hadoop's configuration of this write. */
  hadoop?: Record<string, string>;
}

/** Appends to CSV files that are there, by the file sources of DataSource V2. */
export interface V2Step {
  do: 'v2';
  query: string;
  path: string;
  conf?: StepConf;
}

/** Returns the rows of the last statement. */
export interface SqlStep {
  do: 'sql';
  statements: string[];
  conf?: StepConf;
}

export interface LoadStep {
  do: 'load';
  path: string;
  format: SparkFormat;
  schema: string;
}

/** How many attempts the shim still knows in each JVM. */
export interface RegistryStep {
  do: 'registry';
}

/** What a step prints. */
export interface StepResult {
  event: 'step';
  step: number;
  do: SparkStep['do'];
  ok: boolean;
  seconds: number;
  rows?: number;
  distinct_ids?: number;
  sum_ids?: number;
  wrong_values?: number;
  /** Rows as texts, sorted. */
  texts?: string[];
  /** What Spark counted as written by its tasks. */
  bytes?: number;
  registries?: number[];
  setup_s?: number;
  tasks_s?: number;
  commit_s?: number;
  wall_s?: number;
  /** The messages of the error and of its causes. */
  error?: string;
  error_class?: string;
}
