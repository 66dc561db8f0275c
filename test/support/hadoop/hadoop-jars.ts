import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compileJar, installMavenJars } from '../java/index.js';
import { repoRoot } from '../servers/index.js';

/** The newest Hadoop, which `npm test` runs. */
export const defaultHadoop = '3.5.0';

const project = join(repoRoot, 'java-shim/it/mapreduce');

/** Fetches the jars of a stock Hadoop with its mini clusters, its examples and s3a; returns their directory. */
export async function installHadoopJars(version = defaultHadoop): Promise<string> {
  return installMavenJars({
    name: `hadoop-${version}`,
    pom: join(project, 'pom.xml'),
    properties: { 'hadoop.version': version },
    purpose: 'a stock Hadoop from Maven',
  });
}

/** Compiles the cluster and the jobs in `java-shim/it/mapreduce` against one Hadoop and returns the jar. */
export async function buildHadoopJobs(version: string, bundleJar: string): Promise<string> {
  return compileJar({
    name: `hadoop-${version}-jobs`,
    directory: join(project, 'src/main/java'),
    jars: await installHadoopJars(version),
    bundleJar,
    version,
    purpose: 'the MapReduce jobs of the tests',
  });
}

/** One of Hadoop's own programs, as `mapreduce-examples`, whatever its version. */
export async function hadoopProgram(jars: string, name: string): Promise<string> {
  const found = (await readdir(jars)).filter((jar) => new RegExp(`^hadoop-${name}-[0-9.]+\\.jar$`).test(jar));
  const [jar] = found;
  if (jar === undefined || found.length > 1)
    throw new Error(`${found.length} jars are called hadoop-${name}`);
  return join(jars, jar);
}
