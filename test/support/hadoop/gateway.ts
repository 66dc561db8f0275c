import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ManagedChild, missingTool, repoRoot, type S3Access } from '../servers/index.js';
import { buildHadoopJobs, defaultHadoop, hadoopProgram, installHadoopJars } from './hadoop-jars.js';
import { Program } from './program.js';
import { siteXml } from './site-file.js';

export interface GatewayOptions {
  version?: string | undefined;
  bundleJar: string;
  /** The server (or the observer in front of it) behind `s3a://`. */
  s3: S3Access;
  /** In mapred-site.xml, after what `deploy/hadoop` says. */
  conf: Readonly<Record<string, string>>;
}

/** What an administrator drops in. */
const siteFile = 'commitbridge-site.xml';
const support = join(repoRoot, 'test/support/hadoop');

/**
 * A machine that jobs are submitted from: a stock Hadoop, the jar, and a directory of configuration that says nothing
 * of a cluster, so that jobs run in the client's own JVM.
 */
export class Gateway {
  private constructor(
    readonly version: string,
    /** Working directory; removed by `remove`. */
    readonly home: string,
    readonly confDir: string,
    /** Of stock Hadoop. */
    readonly jars: string,
    /** The jar of the tests' own jobs. */
    readonly jobsJar: string,
    readonly bundleJar: string,
  ) {}

  static async create({ version = defaultHadoop, bundleJar, s3, conf }: GatewayOptions): Promise<Gateway> {
    const jars = await installHadoopJars(version);
    const jobsJar = await buildHadoopJobs(version, bundleJar);
    const home = await mkdtemp(join(tmpdir(), 'commitbridge-hadoop-'));
    const confDir = join(home, 'conf');
    await mkdir(confDir);
    await mkdir(join(home, 'tmp'));
    await copyFile(join(repoRoot, 'deploy/hadoop', siteFile), join(confDir, siteFile));
    await copyFile(join(support, 'log4j.properties'), join(confDir, 'log4j.properties'));
    await writeFile(join(confDir, 'mapred-site.xml'), siteXml(conf, [siteFile]));
    const nodeConf = join(home, 'node');
    await mkdir(nodeConf);
    // They hold the secret.
    for (const directory of [confDir, nodeConf]) {
      await writeFile(join(directory, 'core-site.xml'), siteXml(s3aConf(s3)), { mode: 0o600 });
    }
    return new Gateway(version, home, confDir, jars, jobsJar, bundleJar);
  }

  /** Of a cluster's own JVM, and so of its containers: with s3a's settings, and without Commitbridge. */
  get nodeClassPath(): string {
    return [join(this.home, 'node'), this.classPath].join(delimiter);
  }

  /** Of stock Hadoop and the tests' own classes. */
  private get classPath(): string {
    return [this.jobsJar, join(this.jars, '*')].join(delimiter);
  }

  /** Starts a main class, as `hadoop CLASS ARGS` does. */
  async start(mainClass: string, args: readonly string[]): Promise<Program> {
    const main = ['-cp', [this.confDir, this.bundleJar, this.classPath].join(delimiter), mainClass, ...args];
    return new Program(await this.java(['-Xmx512m', ...smallJvm, ...main]));
  }

  /** Starts the main class of a jar, as `hadoop jar JAR ARGS` does. */
  async startJar(program: string, args: readonly string[]): Promise<Program> {
    return this.start('org.apache.hadoop.util.RunJar', [await hadoopProgram(this.jars, program), ...args]);
  }

  /** A JVM in the home directory. */
  async java(args: readonly string[]): Promise<ManagedChild> {
    const own = [`-Djava.io.tmpdir=${join(this.home, 'tmp')}`, '--add-opens=java.base/java.lang=ALL-UNNAMED'];
    return ManagedChild.start('java', [...own, ...args], {
      cwd: this.home,
      env: { HADOOP_CONF_DIR: undefined, HADOOP_HOME: undefined },
      onMissing: () => missingTool('java', 'Hadoop'),
    });
  }

  async remove(): Promise<void> {
    await rm(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** C1 and the serial collector: half the start time of a JVM that lives for seconds. */
const smallJvm = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

function s3aConf(s3: S3Access): Record<string, string> {
  return {
    'fs.s3a.endpoint': s3.endpoint,
    'fs.s3a.endpoint.region': s3.region,
    'fs.s3a.path.style.access': 'true',
    'fs.s3a.connection.ssl.enabled': 'false',
    'fs.s3a.access.key': s3.accessKey,
    'fs.s3a.secret.key': s3.secretKey,
    'fs.s3a.aws.credentials.provider': 'org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider',
  };
}
