import type { StepConf } from '../../support/spark/index.js';

/** Set for the application: what docs/spark.md recommends, beside the jar and the endpoints. */
export const recommended = {
  'spark.sql.sources.commitProtocolClass': 'io.commitbridge.spark.BridgeCommitProtocol',
};

const sparksProtocol = {
  'spark.sql.sources.commitProtocolClass':
    'org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol',
};

export type Binding = 'protocol' | 'committers';
export const both: Binding[] = ['protocol', 'committers'];

/** Of a write: the two ways of Commitbridge. */
export const bindings: Record<Binding, StepConf> = {
  protocol: recommended,
  committers: {
    ...sparksProtocol,
    'spark.sql.parquet.output.committer.class': 'io.commitbridge.BridgeParquetOutputCommitter',
    'spark.sql.sources.outputCommitterClass': 'io.commitbridge.BridgeOutputCommitter',
  },
};

/** Files as small as those of the tests travel inline otherwise. */
export const uploaded: StepConf = { 'commitbridge.inline-limit': '0' };

/** The same for a write whose uploads a test looks at. */
export const uploads: Record<Binding, StepConf> = {
  protocol: { ...bindings.protocol, ...uploaded },
  committers: { ...bindings.committers, ...uploaded },
};

/** Of a write: stock Spark without Commitbridge, by FileOutputCommitter. */
export const stock: StepConf = { ...sparksProtocol, 'spark.hadoop.commitbridge.spark.check': 'warn' };

/** Of an RDD write by the new API. */
export const factory = {
  'mapreduce.outputcommitter.factory.scheme.s3a': 'io.commitbridge.BridgeCommitterFactory',
};
