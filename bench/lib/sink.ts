import { setTimeout as sleep } from 'node:timers/promises';
import { LeanTransport } from '../../src/adapters/lean-transport.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import type { RequestCounts } from '../../test/support/observer/index.js';
import { ManagedChild, type S3Access } from '../../test/support/servers/index.js';
import { runTool } from '../../test/support/servers/run-tool.js';
import { buildPrograms } from './programs.js';
import { median } from './report.js';

export interface SinkSettings {
  latency_ms: number;
  /** Spread of the latency: of its logarithm, so that `latency_ms` is the median. */
  sigma: number;
  /** What a prefix takes before 503 SlowDown; 0 for no limit. */
  writes_per_second: number;
  reads_per_second: number;
}

export interface SinkState {
  counts: RequestCounts;
  /** Requests that were answered 503. */
  slowed: number;
  most_in_flight: number;
  objects: number;
  uploads: number;
  /** From the first Complete to the answer to the last, since the counts were forgotten. */
  complete_seconds: number;
}

/** A double of S3 that costs little: see `bench/go/cmd/sink`. */
export class Sink {
  private constructor(
    private readonly child: ManagedChild,
    private readonly ceilingProgram: string,
    readonly access: S3Access,
    /** The same store over https. */
    readonly secureAccess: S3Access,
  ) {}

  /** With https it writes its certificate to `certificateFile`. */
  static async start(certificateFile?: string): Promise<Sink> {
    const programs = await buildPrograms();
    const args = certificateFile === undefined ? [] : ['-tls', certificateFile];
    const child = await ManagedChild.start(programs.sink, args);
    for (let waited = 0; waited < 10_000 && child.running; waited += 20) {
      const [, endpoint, secure = ''] = /^(http:\S+)(?: (https:\S+))?\n/.exec(child.output) ?? [];
      if (endpoint !== undefined) {
        const access = { endpoint, region: 'us-east-1', accessKey: 'bench', secretKey: 'bench-secret' };
        return new Sink(child, programs.ceiling, access, { ...access, endpoint: secure });
      }
      await sleep(20);
    }
    child.kill();
    throw new Error(`The sink did not start:\n${child.output}`);
  }

  get pid(): number {
    return this.child.pid;
  }

  /** Changes what is named. */
  async set(settings: Partial<SinkSettings>): Promise<void> {
    await this.admin('PUT', JSON.stringify(settings));
  }

  async forgetCounts(): Promise<void> {
    await this.admin('DELETE');
  }

  async state(): Promise<SinkState> {
    return (await (await this.admin('GET')).json()) as SinkState;
  }

  /** Open uploads for a loop that only completes: bucket, key and upload id with tabs between, a line each. */
  /** What a request takes, one after the other: the latency and what the way there and back adds to it. Median, in ms. */
  async roundTripMs(requests = 50): Promise<number> {
    const transport = new LeanTransport({}, new SystemClock());
    const request = { origin: this.access.endpoint, path: '/none/none', method: 'GET', headers: {} } as const;
    const times: number[] = [];
    for (let i = 0; i < requests; i++) {
      const started = performance.now();
      await transport.send(request, undefined);
      times.push(performance.now() - started);
    }
    await transport.close();
    return median(times);
  }

  async openUploads(bucket: string, prefix: string, count: number): Promise<string> {
    const query = new URLSearchParams({ bucket, prefix, count: String(count) }).toString();
    const response = await fetch(`${this.access.endpoint}/_sink/uploads?${query}`);
    return response.text();
  }

  /** What lies below a prefix; the question isn't counted. */
  async objects(bucket: string, prefix: string): Promise<{ key: string; bytes: number }[]> {
    const query = new URLSearchParams({ bucket, prefix }).toString();
    const text = await (await fetch(`${this.access.endpoint}/_sink/objects?${query}`)).text();
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t'))
      .map(([key = '', bytes]) => ({ key, bytes: Number(bytes) }));
  }

  /** Returns when no request has come for so long. */
  async quiet(forMs: number): Promise<void> {
    let before = '';
    for (;;) {
      const { counts } = await this.state();
      const now = JSON.stringify(counts);
      if (now === before) return;
      before = now;
      await sleep(forMs);
    }
  }

  /** The most requests a second that it answers at no latency. Changes the latency. */
  async ceiling(concurrency: number): Promise<number> {
    await this.set({ latency_ms: 0, sigma: 0, writes_per_second: 0, reads_per_second: 0 });
    const args = ['-endpoint', this.access.endpoint, '-concurrency', String(concurrency)];
    const said = await runTool(this.ceilingProgram, args, { purpose: 'the benchmark' });
    return (JSON.parse(said) as { requests_per_s: number }).requests_per_s;
  }

  stop(): Promise<void> {
    return this.child.stop();
  }

  private async admin(method: string, body?: string): Promise<Response> {
    const response = await fetch(`${this.access.endpoint}/_sink`, {
      method,
      ...(body === undefined ? {} : { body }),
    });
    if (!response.ok) throw new Error(`The sink answered ${response.status}: ${await response.text()}`);
    return response;
  }
}
