import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { bundleJar } from '../../../scripts/lib/bundle-jar.js';
import { DaemonProcess } from '../../support/daemon/index.js';
import {
  Gateway,
  HadoopCluster,
  type ClientOptions,
  type Program,
  type ProgramResult,
} from '../../support/hadoop/index.js';
import { Observer, StoreReader } from '../../support/observer/index.js';
import { freePort, startS3Proxy, type S3Access, type S3Server } from '../../support/servers/index.js';
import { everyRow } from './versions.js';

export const bucket = 'mapreduce';
const jobs = 'io.commitbridge.it.mapreduce';
/** Task records, ledger segments and records of closed files: what doesn't outlive a job. */
const removedAtTheEnd = /^\.commitbridge\/jobs\/.*\/(tasks|opened|files|claims)\//;
/** Background cleanup, and the ledger's look at the end of a job, which comes every ten seconds. */
const cleanupTimeoutMs = 60_000;

/** A configuration of a job, as `-D` settings. */
export type Conf = Readonly<Record<string, string | number>>;

/** Hadoop's own committer in the place of ours. */
export const fileOutputCommitter: Conf = {
  'mapreduce.outputcommitter.factory.scheme.s3a':
    'org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory',
  'mapred.output.committer.class': 'org.apache.hadoop.mapred.FileOutputCommitter',
  'mapreduce.fileoutputcommitter.algorithm.version': 1,
};

export const apis = { mapreduce: `${jobs}.WriteJob`, mapred: `${jobs}.OldWriteJob` } as const;
export type Api = keyof typeof apis;

export interface StageOptions {
  version: string;
  /** Without it, jobs run in the client's JVM. */
  cluster?: boolean;
  conf?: Readonly<Record<string, string>>;
}

/** Beside the stage's own, with a count of the calls that reached it. */
export interface OtherDaemon {
  readonly daemon: DaemonProcess;
  calls(rpc: string): Promise<number>;
}

/** A real S3 server behind the observer, a daemon, a stock Hadoop, and a cluster where one is wanted. */
export class Stage {
  private constructor(
    private readonly server: S3Server,
    readonly observer: Observer,
    /** Goes to the server itself: an independent client that isn't observed. */
    readonly reader: StoreReader,
    readonly daemon: DaemonProcess,
    private readonly admin: string,
    private readonly access: S3Access,
    readonly gateway: Gateway,
    private readonly yarn: HadoopCluster | undefined,
  ) {}

  static async start({ version, cluster = false, conf = {} }: StageOptions): Promise<Stage> {
    const undo: (() => Promise<void>)[] = [];
    try {
      const server = await startS3Proxy();
      undo.push(() => server.stop());
      const observer = await Observer.start({ endpoint: server.endpoint });
      undo.push(() => observer.stop());
      const reader = new StoreReader(server, bucket);
      await reader.createBucket();
      const { region, accessKey, secretKey } = server;
      const access = { endpoint: observer.endpoint, region, accessKey, secretKey };
      const admin = `127.0.0.1:${await freePort()}`;
      const daemon = await startDaemon(access, admin);
      undo.push(() => daemon.stop());
      const endpoints = { 'commitbridge.endpoints': daemon.address };
      const gateway = await Gateway.create({
        version,
        bundleJar,
        s3: access,
        onlySubmits: cluster,
        conf: { ...endpoints, ...conf },
      });
      undo.push(() => gateway.remove());
      const yarn = cluster ? await HadoopCluster.start(gateway) : undefined;
      const stage = new Stage(server, observer, reader, daemon, admin, access, gateway, yarn);
      // The archive takes as long as a few jobs, and saves that only where there are many.
      if (cluster && everyRow) {
        await gateway.archiveClasses(async () =>
          stage.write('mapreduce', 'training', { 'mapreduce.job.reduces': 1 }),
        );
      }
      return stage;
    } catch (error) {
      for (const stop of undo.reverse()) await stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.observer.clearRules();
    await this.yarn?.stop();
    await this.gateway.remove();
    await this.daemon.stop();
    this.reader.close();
    await this.observer.stop();
    await this.server.stop();
  }

  get cluster(): HadoopCluster {
    if (this.yarn === undefined) throw new Error('This stage has no cluster.');
    return this.yarn;
  }

  /** Another daemon for the same store and roots. */
  async secondDaemon(): Promise<OtherDaemon> {
    const admin = `127.0.0.1:${await freePort()}`;
    const daemon = await startDaemon(this.access, admin);
    return { daemon, calls: async (rpc) => callsAt(admin, rpc) };
  }

  /** Starts a job that writes rows to `destination`, a URI or a directory of the bucket. */
  async startWrite(api: Api, destination: string, conf: Conf): Promise<Program> {
    return this.gateway.start(apis[api], [...settings(this.withInput(conf)), uri(destination)]);
  }

  /** Runs a job that writes rows, which must succeed. */
  async write(api: Api, destination: string, conf: Conf): Promise<ProgramResult> {
    return this.succeeds(await this.startWrite(api, destination, conf));
  }

  /** Runs one of the tests' own jobs, which must succeed. */
  async runJob(
    name: string,
    conf: Conf,
    args: readonly string[],
    options: ClientOptions = {},
  ): Promise<ProgramResult> {
    const all = [...settings(this.withInput(conf)), ...args];
    return this.succeeds(await this.gateway.start(`${jobs}.${name}`, all, options));
  }

  /** Where the tests' own jobs put their input: the cluster's HDFS, or the home directory. */
  private withInput(conf: Conf): Conf {
    return this.yarn === undefined ? { 'it.input': `file://${this.gateway.home}/tmp/input-`, ...conf } : conf;
  }

  /** Runs a program of Hadoop's examples, which must succeed. */
  async example(name: string, conf: Conf, ...args: string[]): Promise<ProgramResult> {
    return this.succeeds(
      await this.gateway.startJar('mapreduce-examples', [name, ...settings(conf), ...args]),
    );
  }

  async succeeds(program: Program): Promise<ProgramResult> {
    const result = await program.result;
    const daemon = this.daemon.output.slice(-4_000);
    expect(result.exitCode, `${result.output.slice(-8_000)}\n--- daemon\n${daemon}`).toBe(0);
    return result;
  }

  /** What an independent client sees below a directory, less directory markers. */
  async files(directory: string): Promise<string[]> {
    const objects = await this.reader.listObjects(`${directory}/`);
    return objects
      .map(({ key }) => key.slice(directory.length + 1))
      .filter((name) => name !== '' && !name.endsWith('/'));
  }

  /** Objects below a directory that were made by copying, for a rename, as other jobs may do meanwhile elsewhere. */
  copiesBelow(directory: string): string[] {
    const key = new RegExp(`^${directory}/`);
    return this.observer.select({ kind: 'copy', key }).map((request) => request.key);
  }

  async text(directory: string, file: string): Promise<string> {
    return (await this.reader.getObject(`${directory}/${file}`))?.toString() ?? '';
  }

  /** The bytes of the files below a directory that tasks wrote. */
  async bytes(directory: string): Promise<number> {
    const objects = await this.reader.listObjects(`${directory}/`);
    return objects
      .filter(({ key }) => !key.endsWith('/_SUCCESS'))
      .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  /** The numbers of all rows that a reader finds in the part files of a directory, sorted. */
  async rows(directory: string): Promise<number[]> {
    const parts = (await this.files(directory)).filter((name) => /^part-[^/]*$/.test(name));
    const texts = await Promise.all(parts.map(async (name) => this.text(directory, name)));
    const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
    return lines.map((line) => Number(line.split(' ')[0])).sort((a, b) => a - b);
  }

  /** Exactly one copy of the output, and the files that a job of so many tasks writes. */
  async expectOneCopy(directory: string, tasks: number, rows: number, letter: 'm' | 'r' | ''): Promise<void> {
    expect(await this.files(directory)).toEqual(['_SUCCESS', ...partNames(letter, tasks)]);
    expect(await this.rows(directory)).toEqual(Array.from({ length: rows }, (_, i) => i));
  }

  /** How often a call of the committer reached the daemon since it started, whatever came of it. */
  async calls(rpc: string): Promise<number> {
    return callsAt(this.admin, rpc);
  }

  /** Open uploads below a directory, and anywhere task records and ledger segments of its jobs. */
  async left(directory: string): Promise<string[]> {
    const uploads = await this.reader.listUploads(`${directory}/`);
    const objects = await this.reader.listObjects('.commitbridge/jobs/');
    const tokens = await this.tokensOf(
      directory,
      objects.map(({ key }) => key),
    );
    return [
      ...uploads.map(({ key }) => `upload of ${key}`),
      ...objects
        .map(({ key }) => key)
        .filter((key) => removedAtTheEnd.test(key) && tokens.has(key.split('/')[2] ?? '')),
      ...(await this.files(directory)).filter((name) => name.includes('_temporary')),
    ];
  }

  private async tokensOf(directory: string, keys: readonly string[]): Promise<Set<string>> {
    const jobFiles = keys.filter((key) => key.endsWith('/job.json'));
    const found = await Promise.all(
      jobFiles.map(async (key) => {
        const text = (await this.reader.getObject(key))?.toString() ?? '';
        return text.includes(`"${uri(directory)}"`) ? key.split('/')[2] : undefined;
      }),
    );
    return new Set(found.filter((token) => token !== undefined));
  }

  /** Once background cleanup is over, nothing is left of the directory's jobs but the facts that answer late calls. */
  async expectNothingLeft(directory: string): Promise<void> {
    // Not expect.poll, which knows one test at a time.
    let left = await this.left(directory);
    for (const deadline = Date.now() + cleanupTimeoutMs; left.length > 0 && Date.now() < deadline;) {
      await sleep(500);
      left = await this.left(directory);
    }
    expect(left).toEqual([]);
  }
}

async function startDaemon(store: S3Access, admin: string): Promise<DaemonProcess> {
  const roots = [{ uri: `s3a://${bucket}/`, store: 'main' }];
  return DaemonProcess.start({ store, bucket, config: { roots, admin: { listen: admin } } });
}

async function callsAt(admin: string, rpc: string): Promise<number> {
  const text = await (await fetch(`http://${admin}/metrics`)).text();
  const lines = text.matchAll(
    new RegExp(`^rpc_server_call_duration_seconds_count\\{[^}]*/${rpc}"[^}]*\\} (\\d+)$`, 'gm'),
  );
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}

export function uri(destination: string): string {
  return destination.includes('://') ? destination : `s3a://${bucket}/${destination}`;
}

function settings(conf: Conf): string[] {
  return Object.entries(conf).map(([key, value]) => `-D${key}=${value}`);
}

/** Files of maps (`m`) or reducers (`r`) in the new API; the old one has no letter. */
function partNames(letter: 'm' | 'r' | '', tasks: number): string[] {
  const prefix = letter === '' ? 'part-' : `part-${letter}-`;
  return Array.from({ length: tasks }, (_, i) => `${prefix}${String(i).padStart(5, '0')}`);
}
