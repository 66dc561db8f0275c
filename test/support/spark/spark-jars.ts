import { createHash } from 'node:crypto';
import { copyFile, link, mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { cacheDir, installOnce, repoRoot, runTool } from '../servers/index.js';

/** One Spark to test with; the Hadoop version must be the one it was built with. */
export interface SparkVersion {
  spark: string;
  scala: string;
  hadoop: string;
}

export const defaultSpark: SparkVersion = { spark: '4.1.2', scala: '2.13', hadoop: '3.4.2' };

const pom = join(repoRoot, 'java-shim/it/spark-jars/pom.xml');
const sources = join(repoRoot, 'java-shim/it/src/main/java');
/** Sources that need Commitbridge's jar to compile. */
const bridgeSources = join('io', 'commitbridge', 'it', 'bridge');

/**
 * Fetches the jars of a stock Spark with hadoop-aws once and returns their directory, named `jars` as Spark wants it.
 * They are links into Maven's own repository: the AWS bundle alone has hundreds of MB.
 */
export async function installSparkJars(version: SparkVersion = defaultSpark): Promise<string> {
  const content = `${await readFile(pom, 'utf8')}${JSON.stringify(version)}`;
  const home = await installOnce(join(cacheDir, sparkName(version)), content, async (workDir) => {
    const jars = join(workDir, 'jars');
    await mkdir(jars);
    const list = join(workDir, 'class-path.txt');
    await runTool('mvn', mavenArgs(version, list), { purpose: 'a stock Spark from Maven' });
    for (const jar of (await readFile(list, 'utf8')).trim().split(delimiter)) {
      await place(jar, join(jars, basename(jar)));
    }
    await rm(list);
  });
  return join(home, 'jars');
}

function sparkName(version: SparkVersion): string {
  return `spark-${version.spark}${version.scala === defaultSpark.scala ? '' : `-${version.scala}`}`;
}

function mavenArgs(version: SparkVersion, outputFile: string): string[] {
  return [
    '-B',
    '-q',
    '-f',
    pom,
    'dependency:build-classpath',
    '-DincludeScope=runtime',
    `-Dmdep.outputFile=${outputFile}`,
    `-Dspark.version=${version.spark}`,
    `-Dscala.binary.version=${version.scala}`,
    `-Dhadoop.version=${version.hadoop}`,
  ];
}

/** A hard link, which outlives a cleaned repository; where that can't be, a symbolic one, or a copy. */
async function place(jar: string, target: string): Promise<void> {
  for (const how of [link, symlink, copyFile]) {
    try {
      await how(jar, target);
      return;
    } catch (error) {
      if (how === copyFile) throw error;
    }
  }
}

/**
 * Compiles the jobs in `java-shim/it` against one Spark and returns the jar. Those that extend Commitbridge's classes
 * are in it only when `bundleJar` is given.
 */
export async function buildSparkJobs(
  version: SparkVersion = defaultSpark,
  bundleJar?: string,
): Promise<string> {
  const jars = await installSparkJars(version);
  const files = (await readdir(sources, { recursive: true }))
    .filter((name) => name.endsWith('.java'))
    .filter((name) => bundleJar !== undefined || !name.startsWith(bridgeSources))
    .sort();
  const hash = createHash('sha256').update(JSON.stringify(version));
  for (const name of files) hash.update(name).update(await readFile(join(sources, name)));
  if (bundleJar !== undefined) hash.update(await readFile(bundleJar));
  const directory = join(cacheDir, `${sparkName(version)}-jobs${bundleJar === undefined ? '' : '-bridge'}`);
  const purpose = 'the Spark jobs of the tests';
  const built = await installOnce(directory, hash.digest('hex'), async (workDir) => {
    const classes = join(workDir, 'classes');
    const classPath = [join(jars, '*'), ...(bundleJar === undefined ? [] : [bundleJar])].join(delimiter);
    const paths = files.map((name) => join(sources, name));
    await runTool('javac', ['-nowarn', '-proc:none', '-cp', classPath, '-d', classes, ...paths], { purpose });
    await runTool('jar', ['--create', '--file', join(workDir, 'jobs.jar'), '-C', classes, '.'], { purpose });
  });
  return join(built, 'jobs.jar');
}
