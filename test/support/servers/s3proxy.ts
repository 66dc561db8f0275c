import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ManagedChild } from './child-process.js';
import { installOnce } from './install-once.js';
import { cacheDir, repoRoot } from './paths.js';
import { missingTool, runTool } from './run-tool.js';
import { startServer, type S3Server, type S3ServerOptions } from './s3-server.js';

const pom = join(repoRoot, 'test/support/servers/s3proxy/pom.xml');
const logback = join(repoRoot, 'test/support/servers/s3proxy/logback.xml');
const purpose = 's3proxy, the S3 server of the tests,';

export interface S3ProxyOptions extends S3ServerOptions {
  /** `filesystem-nio2` (default) keeps its data over kill -9 and restart; `transient-nio2` is in memory. */
  provider?: 'filesystem-nio2' | 'transient-nio2';
}

/** Fetches s3proxy's jars once into `.cache` and returns their directory. */
export async function installS3Proxy(): Promise<string> {
  const version = await readFile(pom, 'utf8');
  return installOnce(join(cacheDir, 's3proxy-4.1.0'), version, async (workDir) => {
    const goal = 'dependency:copy-dependencies';
    await runTool(
      'mvn',
      ['-B', '-q', '-f', pom, goal, '-DincludeScope=runtime', `-DoutputDirectory=${workDir}`],
      {
        purpose,
      },
    );
  });
}

/** Starts s3proxy, which needs a JDK, and Maven the first time. */
export async function startS3Proxy(options: S3ProxyOptions = {}): Promise<S3Server> {
  const jars = await installS3Proxy();
  const provider = options.provider ?? 'filesystem-nio2';
  return startServer('s3proxy', options, async (settings) => {
    const objects = join(settings.dir, 'objects');
    await mkdir(objects, { recursive: true });
    const properties = join(settings.dir, 's3proxy.properties');
    const lines = [
      's3proxy.authorization=aws-v2-or-v4',
      `s3proxy.endpoint=http://127.0.0.1:${settings.port}`,
      `s3proxy.identity=${settings.accessKey}`,
      `s3proxy.credential=${settings.secretKey}`,
      `jclouds.provider=${provider}`,
      'jclouds.identity=x',
      'jclouds.credential=x',
      `jclouds.filesystem.basedir=${objects}`,
    ];
    await writeFile(properties, `${lines.join('\n')}\n`, { mode: 0o600 });
    // C1 and class data sharing: half the start time of a server that lives for seconds.
    const jvm = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'];
    const main = ['-cp', `${jars}/*`, 'org.gaul.s3proxy.Main', '--properties', properties];
    return ManagedChild.start('java', [...jvm, `-Dlogback.configurationFile=${logback}`, ...main], {
      onMissing: () => missingTool('java', purpose),
    });
  });
}
