export {
  buildSparkJobs,
  defaultSpark,
  installHadoopCloudJar,
  installOssJars,
  installSparkJars,
  type SparkVersion,
} from './spark-jars.js';
export { runSpark, s3aConf, SparkRun, type SparkOptions, type SparkResult } from './run-spark.js';
export { StandaloneCluster, type StandaloneOptions } from './standalone-cluster.js';
export type {
  RddStep,
  ReadStep,
  RowFault,
  SaveStep,
  SparkFormat,
  SparkStep,
  StepConf,
  StepResult,
  WriteStep,
} from './spark-job.js';
