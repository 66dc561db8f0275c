import type { SparkVersion } from '../../test/support/spark/index.js';

/** The newest whose spark-hadoop-cloud Maven has: without that jar Spark can't bind the committers of S3A. */
export const benchSpark: SparkVersion = { spark: '4.1.2', scala: '2.13', hadoop: '3.4.2' };
