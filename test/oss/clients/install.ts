import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { compileJar, installMavenJars } from '../../support/java/index.js';
import { cacheDir, installOnce, installVenv, repoRoot, runTool } from '../../support/servers/index.js';

const sources = join(repoRoot, 'test/oss/clients');
const purpose = 'a client of OSS that the tests run on the double';

/** A Hadoop whose hadoop-aliyun is run; it brings the aliyun-sdk-oss that it was built with. */
export interface HadoopVersion {
  hadoop: string;
  sdk: string;
}

export const defaultHadoop: HadoopVersion = { hadoop: '3.5.0', sdk: '3.18.1' };
/** The one of Spark 4.1. Its SDK knows no V4. */
export const olderHadoop: HadoopVersion = { hadoop: '3.4.2', sdk: '3.13.2' };

/** The Python of a virtual environment with both SDKs. */
export async function installPythonClients(): Promise<string> {
  return installVenv('oss-python', join(sources, 'python/requirements.txt'), purpose);
}

/** Builds the program with the Go SDK and returns its path. */
export async function installGoClient(): Promise<string> {
  const directory = join(sources, 'go');
  const version = await hashOf(
    ['go.mod', 'go.sum', 'main.go', 'script.go'].map((name) => join(directory, name)),
  );
  const home = await installOnce(join(cacheDir, 'oss-go'), version, async (workDir) => {
    await runTool('go', ['build', '-o', join(workDir, 'calls'), '.'], { purpose, cwd: directory });
  });
  return join(home, 'calls');
}

/** Compiles the programs against one Hadoop and returns their class path. */
export async function installJavaClients(version: HadoopVersion = defaultHadoop): Promise<string> {
  const directory = join(sources, 'java');
  const name = `oss-java-${version.hadoop}`;
  const jars = await installMavenJars({
    name,
    pom: join(directory, 'pom.xml'),
    properties: { 'hadoop.version': version.hadoop, 'aliyun-sdk-oss.version': version.sdk },
    purpose,
  });
  const calls = await compileJar({
    name: `${name}-calls`,
    directory,
    only: (file) => version.sdk === defaultHadoop.sdk || file !== join('sdk', 'SdkCalls.java'),
    jars,
    version,
    purpose,
  });
  return [calls, join(jars, '*')].join(delimiter);
}

/** All that `npm test` runs. */
export async function installOssClients(): Promise<void> {
  await installPythonClients();
  await installGoClient();
  await installJavaClients(defaultHadoop);
}

async function hashOf(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(path.slice(sources.length)).update(await readFile(path));
  return hash.digest('hex');
}
