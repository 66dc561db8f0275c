import { mkdir, mkdtemp, readdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repoRoot } from '../servers/index.js';
import { installSparkJars, type SparkVersion } from './spark-jars.js';

const log4jFile = join(repoRoot, 'test/support/spark/log4j2.properties');

/** What a JVM ≥ 17 must open for Spark; Spark's own launcher gives the same list. */
export const jvmOptions = [
  ...[
    'java.lang',
    'java.lang.invoke',
    'java.lang.reflect',
    'java.io',
    'java.net',
    'java.nio',
    'java.util',
    'java.util.concurrent',
    'java.util.concurrent.atomic',
    'jdk.internal.ref',
    'sun.nio.ch',
    'sun.nio.cs',
    'sun.security.action',
    'sun.util.calendar',
  ].map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
  '-XX:+IgnoreUnrecognizedVMOptions',
  '-Djdk.reflect.useDirectMethodHandle=false',
  '-Dio.netty.tryReflectionSetAccessible=true',
];

/** SPARK_HOME of a cluster or an application: a directory of its own, where executors find Spark's jars. */
export interface SparkHome {
  directory: string;
  /** All jars of this Spark. */
  jars: string;
  tmp: string;
  /** Of every JVM of it. */
  processOptions: string[];
  env: Record<string, string | undefined>;
}

/** `isExecutors` says which of Spark's jars executors have; all without it. */
export async function makeSparkHome(
  version: SparkVersion,
  isExecutors: (jar: string) => boolean = () => true,
): Promise<SparkHome> {
  const jars = await installSparkJars(version);
  const directory = await mkdtemp(join(tmpdir(), 'commitbridge-spark-'));
  const tmp = join(directory, 'tmp');
  await mkdir(tmp);
  await mkdir(join(directory, 'jars'));
  for (const jar of await readdir(jars))
    if (isExecutors(jar)) await symlink(join(jars, jar), join(directory, 'jars', jar));
  return {
    directory,
    jars,
    tmp,
    processOptions: [`-Dlog4j2.configurationFile=${log4jFile}`, `-Djava.io.tmpdir=${tmp}`],
    env: {
      SPARK_HOME: directory,
      SPARK_SCALA_VERSION: version.scala,
      SPARK_CONF_DIR: undefined,
      HADOOP_CONF_DIR: undefined,
    },
  };
}
