import { delimiter, join } from 'node:path';
import { bundleJar } from '../../scripts/lib/bundle-jar.js';
import { compileJar, installMavenJars } from '../../test/support/java/index.js';
import { repoRoot } from '../../test/support/servers/index.js';
import { installSparkJars } from '../../test/support/spark/index.js';
import { benchSpark } from './bench-spark.js';

const sources = join(repoRoot, 'bench/java');

/** The arguments of `java` for the loop over the AWS SDK for Java. */
export async function completeLoop(): Promise<string[]> {
  const purpose = 'the loop over the AWS SDK for Java';
  const pom = join(sources, 'pom.xml');
  const jars = await installMavenJars({ name: 'bench-aws-sdk-java', pom, properties: {}, purpose });
  const directory = join(sources, 'complete');
  const loop = await compileJar({ name: 'bench-complete-loop', directory, jars, version: '1', purpose });
  return ['-cp', [loop, join(jars, '*')].join(delimiter), 'CompleteLoop'];
}

/** The arguments of `java` for the writer of files, with the Hadoop of Spark. */
export async function dataPlane(): Promise<string[]> {
  const jars = await installSparkJars(benchSpark);
  const program = await compileJar({
    ...{ name: 'bench-data-plane', directory: join(sources, 'data'), jars, bundleJar },
    ...{ version: benchSpark, purpose: 'the writer of bench:data' },
  });
  return ['-cp', [program, bundleJar, join(jars, '*')].join(delimiter), 'DataPlane'];
}
