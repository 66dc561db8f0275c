import { setTimeout as sleep } from 'node:timers/promises';
import { KillableDaemon } from '../e2e/spark/killable-daemon.js';
import { DaemonClient } from '../support/memory-daemon/client.js';
import { RpcError } from '../support/memory-daemon/rpc-error.js';
import type * as wire from '../support/memory-daemon/wire.js';
import { StoreReader } from '../support/observer/store-reader.js';
import { startS3Proxy, startVersityGw, type S3Server } from '../support/servers/index.js';
import { contentOf } from './driver.js';
import { SeededRandom } from './seeded-random.js';

/**
 * Two daemon processes before a real server, clients that drive jobs through both, and kill -9 at random moments.
 * What is checked is read by a client of the store that shares nothing with the daemon.
 */

const bucket = 'real';
const jobsAtOnce = 6;
/** A daemon is killed after so many answers at most, or where there are no more, so long a time. */
const maxAnswersALife = 30;
const maxLifeMs = 20_000;
/** After the last of them, while the next calls run. */
const maxCallMs = 30;
/** For so long a client repeats a call: a busy machine takes long to start a daemon. */
const patienceMs = 240_000;
/** Of the jobs, at most one in so many may be given up: more would hide that nothing goes on. */
const jobsAGiveUp = 20;
const servers = { s3proxy: () => startS3Proxy(), versitygw: () => startVersityGw() } as const;
type ServerName = keyof typeof servers;

export interface RealResult {
  readonly server: string;
  readonly kills: number;
  readonly jobs: number;
  readonly committed: number;
  readonly gaveUp: number;
  readonly violations: readonly string[];
  readonly uploadsLeft: number;
}

/** @returns true where nothing was violated. */
export async function proveReal(
  kills: number,
  seed: number,
  print: (line: string) => void,
): Promise<boolean> {
  const results: RealResult[] = [];
  for (const name of Object.keys(servers) as ServerName[]) {
    const share = Math.ceil(kills / Object.keys(servers).length);
    const result = await RealRun.play(name, share, seed, print);
    results.push(result);
    print(
      `${result.server}: ${result.kills} kills, ${result.jobs} jobs, ${result.committed} committed, ${result.gaveUp} given up, ${result.violations.length} violations, ${result.uploadsLeft} uploads left, seed ${seed}`,
    );
  }
  const sum = (of: (result: RealResult) => number): number =>
    results.reduce((all, each) => all + of(each), 0);
  const failed = results.filter(
    ({ violations, uploadsLeft }) => violations.length > 0 || uploadsLeft > 0,
  ).length;
  print(
    JSON.stringify({
      kills: sum((each) => each.kills),
      jobs: sum((each) => each.jobs),
      given_up: sum((each) => each.gaveUp),
      violations: sum((each) => each.violations.length),
      uploads_left: sum((each) => each.uploadsLeft),
    }),
  );
  print(`${results.length - failed} passed, ${failed} failed`);
  return failed === 0;
}

class RealRun {
  private kills = 0;
  private jobs = 0;
  private committed = 0;
  private gaveUp = 0;
  /** By daemon. */
  private readonly answers: number[] = [];
  private readonly violations: string[] = [];
  private readonly finished: RealJob[] = [];

  private constructor(
    private readonly name: ServerName,
    private readonly server: S3Server,
    private readonly daemons: readonly KillableDaemon[],
    readonly reader: StoreReader,
    private readonly random: SeededRandom,
    private readonly print: (line: string) => void,
  ) {}

  static async play(
    name: ServerName,
    kills: number,
    seed: number,
    print: (line: string) => void,
  ): Promise<RealResult> {
    const server = await servers[name]();
    const daemons: KillableDaemon[] = [];
    const reader = new StoreReader(server, bucket);
    try {
      await reader.createBucket();
      const options = { store: server, root: `s3a://${bucket}/` };
      for (let count = 0; count < 2; count++) daemons.push(await KillableDaemon.start(options));
      const run = new RealRun(name, server, daemons, reader, new SeededRandom(seed), print);
      return await run.all(kills);
    } finally {
      await Promise.all(daemons.map((daemon) => daemon.stop()));
      reader.close();
      await server.stop();
    }
  }

  private async all(kills: number): Promise<RealResult> {
    const killing = this.killUntil(kills);
    const lane = async (): Promise<void> => {
      while (this.kills < kills) await this.oneJob();
    };
    await Promise.all([killing, ...Array.from({ length: jobsAtOnce }, lane)]);
    await this.settle();
    if (this.gaveUp * jobsAGiveUp > this.jobs)
      this.violate(`${this.gaveUp} of ${this.jobs} jobs were given up`);
    const uploads = await this.reader.listUploads();
    return {
      server: this.server.name,
      kills: this.kills,
      jobs: this.jobs,
      committed: this.committed,
      gaveUp: this.gaveUp,
      violations: this.violations,
      uploadsLeft: uploads.length,
    };
  }

  /**
   * Each daemon on its own, in the middle of its calls: after so many answers, however fast the machine is. Now and then
   * none is left for a while.
   */
  private async killUntil(kills: number): Promise<void> {
    await Promise.all(
      this.daemons.map(async (daemon, index) => {
        while (this.kills < kills) {
          const enough = (this.answers[index] ?? 0) + 1 + this.random.below(maxAnswersALife);
          const deadline = Date.now() + maxLifeMs;
          while ((this.answers[index] ?? 0) < enough && Date.now() < deadline) await sleep(1);
          await sleep(this.random.below(maxCallMs));
          if (this.kills >= kills) return;
          this.kills++;
          await daemon.kill();
          await daemon.restart();
          if (this.kills % 50 === 0) this.print(`${this.name}: ${this.kills} kills, ${this.jobs} jobs`);
        }
      }),
    );
  }

  private async oneJob(): Promise<void> {
    const random = new SeededRandom(this.random.below(2 ** 31));
    const job = new RealJob(
      `real-${this.name}-${this.jobs++}`,
      this.daemons.map(({ endpoint }) => endpoint),
      random,
      (daemon) => (this.answers[daemon] = (this.answers[daemon] ?? 0) + 1),
    );
    this.finished.push(job);
    try {
      await job.play(this.reader);
      if (job.told === 'committed') this.committed++;
      if (job.told === 'committed' || job.told === 'aborted') await this.check(job);
    } catch (error) {
      if (error instanceof GaveUp) this.gaveUp++;
      else this.violate(`${job.token}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      job.close();
    }
  }

  /** Nobody is killed any more: gc ends what was abandoned, and the operator what no ledger saw. */
  private async settle(): Promise<void> {
    const [daemon] = this.daemons;
    if (daemon === undefined) return;
    // Objects of rolled back jobs may appear as long as a request can be under way; records wait for that.
    for (const args of [
      ['gc', '--older-than', '0s', '--yes'],
      ['uploads', 'abort', '--prefix', `s3a://${bucket}/`, '--older-than', '0s', '--yes'],
    ]) {
      const { code, output } = await daemon.command(...args);
      if (code !== 0) this.violate(`${args.join(' ')} ended with ${code ?? '?'}: ${output.slice(-500)}`);
    }
    for (const job of this.finished) await this.check(job);
    for (const { key } of await this.reader.listObjects('.commitbridge/jobs/')) {
      if (/\/(tasks|opened|files|claims)\//.test(key)) this.violate(`the record ${key} is left`);
    }
  }

  private violate(what: string): void {
    this.violations.push(what);
    this.print(`${this.name}: ${what}`);
  }

  /** All of the job's files or none, whole, and as its driver was told. */
  private async check(job: RealJob): Promise<void> {
    const found = new Set<string>();
    let isMarked = false;
    for (const { key } of await this.reader.listObjects(`${job.token}/`)) {
      if (key === `${job.token}/_SUCCESS`) {
        isMarked = true;
        continue;
      }
      const content = (await this.reader.getObject(key))?.toString() ?? '';
      found.add(content);
      const [, task = '', number = '', ...name] = content.split(' ');
      if (
        key !== `${job.token}/${name.join(' ')}` ||
        content !== contentOf(job.token, task, Number(number), name.join(' '))
      )
        this.violate(`${key} holds '${content.slice(0, 100)}'`);
    }
    const visible = [...found].sort().join(', ');
    const whole = [...job.expected()].sort().join(', ');
    if (visible !== '' && visible !== whole)
      this.violate(`${job.token} (${job.told ?? 'abandoned'}) shows '${visible}', not '${whole}'`);
    if (job.told === 'committed' && visible !== whole)
      this.violate(`${job.token} is committed and shows '${visible}', not '${whole}'`);
    if (job.told === 'committed' && !isMarked) this.violate(`${job.token} is committed without a marker`);
    if (job.told === 'aborted' && (visible !== '' || isMarked))
      this.violate(`${job.token} is aborted and shows '${visible}'`);
    if (visible === '' && whole !== '' && isMarked) this.violate(`${job.token} has a marker and no files`);
  }
}

interface RealFile {
  readonly content: string;
  readonly closed: wire.ClosedFile;
}

/**
 * A driver's patience is over. No wonder where daemons live for seconds: an abortJob that rolls back files that travelled
 * inline has to wait for as long as a request may be under way, in one life. Its job is gc's then: all of it or none.
 */
class GaveUp extends Error {}

class RealJob {
  told: 'committed' | 'aborted' | 'failed' | undefined;
  private readonly ref: wire.JobRef;
  private readonly clients: DaemonClient[];
  /** By task: the files of the attempt that was answered OK last. */
  private readonly counted = new Map<number, readonly RealFile[]>();

  constructor(
    readonly token: string,
    private readonly endpoints: readonly string[],
    private readonly random: SeededRandom,
    private readonly onAnswer: (daemon: number) => void,
  ) {
    this.ref = { tokens: [token], jobAttempt: 0, destination: `s3a://${bucket}/${token}` };
    this.clients = endpoints.map((endpoint) => new DaemonClient(endpoint));
  }

  close(): void {
    for (const client of this.clients) client.close();
  }

  expected(): string[] {
    return [...this.counted.values()].flatMap((files) => files.map(({ content }) => content));
  }

  async play(reader: StoreReader): Promise<void> {
    const { random, ref } = this;
    await this.call((client) =>
      client.setupJob({ job: ref, setupId: `driver-${this.token}`, options: {}, protocolVersion: 1 }),
    );
    const tasks = 1 + random.below(3);
    await Promise.all(Array.from({ length: tasks }, (_, task) => this.runTask(task)));
    for (const { key } of await reader.listObjects(`${this.token}/`))
      throw new Error(`${key} is visible before commitJob`);
    const end = random.below(10);
    if (end < 6) await this.commit();
    else if (end === 6) await this.abort();
    else if (end === 7) await Promise.all([this.commit(), this.abort(random.below(60))]);
    else if (end === 8) {
      // The driver dies while its daemon works.
      void this.call((client) => client.commitJob({ job: ref, exactWinners: null })).catch(() => undefined);
      await sleep(random.below(100));
    }
  }

  private async runTask(task: number): Promise<void> {
    const { random } = this;
    // Speculation and failed attempts: earlier ones are aborted, or lose.
    for (let number = random.below(2); number >= 0; number--) {
      const files: RealFile[] = [];
      const attempt = {
        task: `m-${String(task).padStart(6, '0')}`,
        attemptNumber: 1 - number,
        attemptId: `attempt_${this.token}_${task}_${1 - number}`,
      };
      for (let file = random.below(3); file >= 0; file--)
        files.push(await this.write(attempt, `${task}-${1 - number}-${file}`));
      const isLast = number === 0;
      if (!isLast && random.below(2) === 0) {
        const pending = files.flatMap(({ closed }) =>
          closed.pending === undefined || closed.pending === null ? [] : [closed.pending],
        );
        await this.call((client) => client.abortTask({ job: this.ref, attempt, files: pending }));
        continue;
      }
      await this.call((client) =>
        client.commitTask(
          { job: this.ref, attempt },
          files.map(({ closed }) => closed),
        ),
      );
      this.counted.set(task, files);
    }
  }

  private async write(attempt: { task: string; attemptNumber: number }, name: string): Promise<RealFile> {
    const content = contentOf(this.token, attempt.task, attempt.attemptNumber, name);
    const uri = `s3a://${bucket}/${this.token}/${name}`;
    const body = Buffer.from(content);
    if (this.random.below(4) === 0) return { content, closed: { inline: { uri, content: body } } };
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const { file, signedParts } = await this.call((client) =>
        client.openFile({ job: this.ref, attempt, uri, partsToSign: 1 }),
      );
      const [signed] = signedParts;
      if (file === null || signed === undefined)
        throw new Error(`openFile returned no signed part for ${uri}`);
      const headers = Object.fromEntries(Object.entries(signed.headers ?? {}));
      const answer = await fetch(signed.url, { method: 'PUT', body, headers });
      const etag = answer.headers.get('etag');
      if (answer.ok && etag !== null)
        return {
          content,
          closed: { pending: file, parts: [{ partNumber: 1, etag, sizeBytes: body.length }] },
        };
      if (Date.now() > deadline)
        throw new Error(`a part of ${uri} was refused: ${answer.status} ${await answer.text()}`);
    }
  }

  private async commit(): Promise<void> {
    try {
      await this.call((client) => client.commitJob({ job: this.ref, exactWinners: null }));
      this.told = 'committed';
    } catch (error) {
      if (!(error instanceof RpcError) || error.reason !== 'JOB_ABORTED') throw error;
      this.told ??= 'failed';
    }
  }

  private async abort(afterMs = 0): Promise<void> {
    await sleep(afterMs);
    const { published } = await this.call((client) => client.abortJob({ job: this.ref, reason: 'chance' }));
    this.told = published ? 'committed' : 'aborted';
  }

  /** As the shim does it: the same call again, at the other daemon, until one answers. */
  private async call<T>(send: (client: DaemonClient) => Promise<T>): Promise<T> {
    const deadline = Date.now() + patienceMs;
    for (let turn = this.random.below(2); ; turn++) {
      const at = turn % this.endpoints.length;
      const client = this.clients[at];
      const endpoint = this.endpoints[at];
      if (client === undefined || endpoint === undefined) throw new Error('no daemon');
      try {
        const answer = await send(client);
        this.onAnswer(at);
        return answer;
      } catch (error) {
        const isRepeatable =
          error instanceof RpcError &&
          ['UNAVAILABLE', 'CANCELLED', 'UNKNOWN', 'ABORTED'].includes(error.code);
        if (!isRepeatable) throw error;
        if (Date.now() > deadline) throw new GaveUp(error.message);
        // A channel waits longer and longer before it connects again; a new one does not. Others may still use it.
        if (this.clients[at] === client) {
          this.clients[at] = new DaemonClient(endpoint);
          setTimeout(() => {
            client.close();
          }, patienceMs).unref();
        }
        await sleep(20 + this.random.below(80));
      }
    }
  }
}
