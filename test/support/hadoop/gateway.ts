import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ManagedChild, missingTool, repoRoot, type S3Access } from '../servers/index.js';
import { archiveClasses } from './class-archive.js';
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
  /** It only submits: it doesn't have Commitbridge's jar on its class path, and sends it with each job (`tmpjars`). */
  onlySubmits?: boolean;
}

export interface ClientOptions {
  /** For a job whose own client needs classes of Commitbridge's jar. */
  withJar?: boolean;
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
    private readonly onlySubmits: boolean,
  ) {}

  static async create(options: GatewayOptions): Promise<Gateway> {
    const { version = defaultHadoop, bundleJar, s3, onlySubmits = false } = options;
    const conf = { ...(onlySubmits ? { tmpjars: `file://${bundleJar}` } : {}), ...options.conf };
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
    const gateway = new Gateway(version, home, confDir, jars, jobsJar, bundleJar, onlySubmits);
    await gateway.useOption('');
    return gateway;
  }

  /** Makes all JVMs that start from now on, of clients and containers, start faster; `job` runs one, if need be. */
  async archiveClasses(job: () => Promise<unknown>): Promise<void> {
    const option = await archiveClasses(`hadoop-${this.version}-classes`, this.jars, async (training) => {
      await this.useOption(training);
      await job();
    });
    await this.useOption(option);
  }

  /** A file of options of all JVMs, in the format of the `java` command. */
  get optionsFile(): string {
    return join(this.home, 'jvm-options');
  }

  private async useOption(option: string): Promise<void> {
    await writeFile(this.optionsFile, option);
  }

  /** What every node has: stock Hadoop with s3a's settings, nothing of Commitbridge's and no class of a job. */
  get nodeClassPath(): string {
    return [join(this.jars, '*'), join(this.home, 'node')].join(delimiter);
  }

  /** Of a cluster's own JVM, whose main class is in the jar of the tests' jobs. */
  get clusterClassPath(): string {
    return [this.nodeClassPath, this.jobsJar].join(delimiter);
  }

  /** Of stock Hadoop, which comes first for the archive of its classes, and the tests' own classes. */
  private get classPath(): string {
    return [join(this.jars, '*'), this.jobsJar].join(delimiter);
  }

  /** Starts a main class, as `hadoop CLASS ARGS` does. */
  async start(
    mainClass: string,
    args: readonly string[],
    { withJar = !this.onlySubmits }: ClientOptions = {},
  ): Promise<Program> {
    const bundle = withJar ? [this.bundleJar] : [];
    const classPath = [this.classPath, this.confDir, ...bundle].join(delimiter);
    // One of Hadoop's jars has a log4j.properties too.
    const log4j = `-Dlog4j.configuration=file:${join(this.confDir, 'log4j.properties')}`;
    return new Program(
      await this.java(['-Xmx512m', ...smallJvm, log4j, '-cp', classPath, mainClass, ...args]),
    );
  }

  /** Starts the main class of a jar, as `hadoop jar JAR ARGS` does. */
  async startJar(program: string, args: readonly string[]): Promise<Program> {
    return this.start('org.apache.hadoop.util.RunJar', [await hadoopProgram(this.jars, program), ...args]);
  }

  /** A JVM in the home directory. */
  async java(args: readonly string[]): Promise<ManagedChild> {
    const temporary = `-Djava.io.tmpdir=${join(this.home, 'tmp')}`;
    const own = [`@${this.optionsFile}`, temporary, '--add-opens=java.base/java.lang=ALL-UNNAMED'];
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
export const smallJvm = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

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
