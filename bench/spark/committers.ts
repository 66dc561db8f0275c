import { bindings } from '../../test/e2e/spark-matrix/bindings.js';
import type { StepConf } from '../../test/support/spark/index.js';

export interface Committer {
  /** Of the write, beside what all writes have. */
  readonly settings: StepConf;
  /** Why these are its best. */
  readonly why: string;
  readonly ours: boolean;
}

/** Of all writes, since a file system reads them once: what lets S3A send the fewest requests, with the most threads. */
export const s3aSettings: Readonly<Record<string, string>> = {
  'fs.s3a.performance.flags': '*',
  'fs.s3a.committer.magic.track.commits.in.memory.enabled': 'true',
  'fs.s3a.threads.max': '128',
  'fs.s3a.connection.maximum': '512',
};

const parquetCommitter = 'spark.sql.parquet.output.committer.class';
const hadoopFactory = 'mapreduce.outputcommitter.factory.scheme.s3a';

/** S3A's, by the jar of spark-hadoop-cloud. */
function s3a(name: string, why: string, more: StepConf = {}): Committer {
  return {
    settings: {
      'fs.s3a.committer.name': name,
      [hadoopFactory]: 'org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory',
      'spark.sql.sources.commitProtocolClass': 'org.apache.spark.internal.io.cloud.PathOutputCommitProtocol',
      [parquetCommitter]: 'org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter',
      'fs.s3a.committer.threads': '64',
      'fs.s3a.committer.abort.pending.uploads': 'false',
      ...more,
    },
    why: `64 threads, where 8 are what is shipped; no listing of others' uploads at the end. ${why}`,
    ours: false,
  };
}

function fileOutputCommitter(version: string, why: string): Committer {
  return {
    settings: {
      'spark.sql.sources.commitProtocolClass':
        'org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol',
      [parquetCommitter]: 'org.apache.parquet.hadoop.ParquetOutputCommitter',
      [hadoopFactory]: 'org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory',
      'mapreduce.fileoutputcommitter.algorithm.version': version,
    },
    why: `Nothing of it can be set for an object store but S3A itself. ${why}`,
    ours: false,
  };
}

const uploaded: StepConf = { 'commitbridge.inline-limit': '0' };
/** The daemon's limit is as high. */
const inline: StepConf = { 'commitbridge.inline-limit': '1m' };

/** By the names that `--committers` takes, which are those of the result. */
export const committers: Readonly<Record<string, Committer>> = {
  foc_v1: fileOutputCommitter(
    '1',
    'Spark’s default: renames in commitTask and again in commitJob, one by one.',
  ),
  foc_v2: fileOutputCommitter('2', 'Renames in commitTask alone, so that parts of failed tasks are seen.'),
  magic: s3a('magic', 'Commits tracked in memory: neither a marker nor a .pending object for a file.'),
  directory: s3a(
    'directory',
    'Its files wait on local disk, its records in the local file system, which costs nothing here; a cluster needs HDFS.',
    { 'fs.s3a.committer.staging.conflict-mode': 'append' },
  ),
  partitioned: s3a('partitioned', 'As directory; append asks nothing about partitions.', {
    'fs.s3a.committer.staging.conflict-mode': 'append',
  }),
  commitbridge: {
    settings: { ...bindings.committers, ...uploaded },
    why: 'The committer classes under Spark’s own commit protocol, every file uploaded.',
    ours: true,
  },
  commitbridge_protocol: {
    settings: { ...bindings.protocol, ...uploaded },
    why: 'BridgeCommitProtocol, every file uploaded.',
    ours: true,
  },
  commitbridge_inline: {
    settings: { ...bindings.protocol, ...inline },
    why: 'BridgeCommitProtocol, files up to 1 MiB inline.',
    ours: true,
  },
};

export const defaultCommitters = Object.keys(committers).filter((name) => name !== 'partitioned');
