import { join } from 'node:path';
import { compileJar, installMavenJars } from '../java/index.js';
import { cacheDir, installOnce, repoRoot, runTool } from '../servers/index.js';

/** One Spark to test with; the Hadoop version must be the one it was built with. */
export interface SparkVersion {
  spark: string;
  scala: string;
  hadoop: string;
}

export const defaultSpark: SparkVersion = { spark: '4.2.0', scala: '2.13', hadoop: '3.5.0' };

const pom = join(repoRoot, 'java-shim/it/spark-jars/pom.xml');
const ossPom = join(repoRoot, 'java-shim/it/oss-jars/pom.xml');
const sources = join(repoRoot, 'java-shim/it/src/main/java');
/** Sources that need Commitbridge's jar to compile. */
const bridgeSources = join('io', 'commitbridge', 'it', 'bridge');

/** Fetches the jars of a stock Spark with hadoop-aws once and returns their directory, named `jars` as Spark wants it. */
export async function installSparkJars(version: SparkVersion = defaultSpark): Promise<string> {
  return installMavenJars({
    name: sparkName(version),
    pom,
    properties: {
      'spark.version': version.spark,
      'scala.binary.version': version.scala,
      'hadoop.version': version.hadoop,
    },
    purpose: 'a stock Spark from Maven',
  });
}

/** Fetches hadoop-aliyun and what it needs besides Spark's own jars, and returns their directory. */
export async function installOssJars(version: SparkVersion = defaultSpark): Promise<string> {
  return installMavenJars({
    name: `oss-jars-${version.hadoop}`,
    pom: ossPom,
    properties: { 'hadoop.version': version.hadoop },
    purpose: 'hadoop-aliyun from Maven',
  });
}

/**
 * Fetches the jar of Spark that has `PathOutputCommitProtocol`, which binds S3A's committers. No distribution of Spark
 * has it. Whatever else it needs comes with hadoop-aws.
 */
export async function installHadoopCloudJar({ spark, scala }: SparkVersion): Promise<string> {
  const artifact = `spark-hadoop-cloud_${scala}`;
  const name = `${artifact}-${spark}`;
  const home = await installOnce(join(cacheDir, name), '1', async (workDir) => {
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
    const what = `-Dartifact=org.apache.spark:${artifact}:${spark}`;
    const args = ['-B', '-q', goal, what, `-DoutputDirectory=${workDir}`];
    await runTool('mvn', args, { purpose: 'spark-hadoop-cloud from Maven' });
  });
  return join(home, `${name}.jar`);
}

function sparkName(version: SparkVersion): string {
  return `spark-${version.spark}${version.scala === defaultSpark.scala ? '' : `-${version.scala}`}`;
}

/**
 * Compiles the jobs in `java-shim/it` against one Spark and returns the jar. Those that extend Commitbridge's classes
 * are in it only when `bundleJar` is given.
 */
export async function buildSparkJobs(
  version: SparkVersion = defaultSpark,
  bundleJar?: string,
): Promise<string> {
  return compileJar({
    name: `${sparkName(version)}-jobs${bundleJar === undefined ? '' : '-bridge'}`,
    directory: sources,
    only: (name) => bundleJar !== undefined || !name.startsWith(bridgeSources),
    jars: await installSparkJars(version),
    bundleJar,
    version,
    purpose: 'the Spark jobs of the tests',
  });
}
