import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestCounts } from '../observer/index.js';
import { ManagedChild } from '../servers/index.js';
import type { AccessKey } from './credentials.js';
import type { OssDoubleOptions } from './oss-double.js';

/** Options that can be handed to another process. */
export type OssDoubleProcessOptions = Omit<OssDoubleOptions, 'latencyMs' | 'now' | 'who'> & {
  latencyMs?: number;
};

/** Where a double in another process listens. */
interface Announcement {
  endpoint: string;
  port: number;
  region: string;
  accessKey: AccessKey;
  controlPort: number;
}

/** A double of OSS in a process of its own. */
export class OssDoubleProcess {
  private constructor(
    private readonly child: ManagedChild,
    private readonly said: Announcement,
  ) {}

  static async start(options: OssDoubleProcessOptions = {}): Promise<OssDoubleProcess> {
    const main = fileURLToPath(new URL('./main.ts', import.meta.url));
    const child = await ManagedChild.start(process.execPath, [
      '--import',
      'tsx',
      main,
      JSON.stringify(options),
    ]);
    for (;;) {
      const line = /^\{.*\}$/m.exec(child.output)?.[0];
      if (line !== undefined) return new OssDoubleProcess(child, JSON.parse(line) as Announcement);
      if (!child.running) throw new Error(`The double of OSS ended while starting:\n${child.output}`);
      await sleep(20);
    }
  }

  get endpoint(): string {
    return this.said.endpoint;
  }

  get port(): number {
    return this.said.port;
  }

  get region(): string {
    return this.said.region;
  }

  get accessKey(): AccessKey {
    return this.said.accessKey;
  }

  get pid(): number {
    return this.child.pid;
  }

  /** By kind, since `since` (a number that `lastSeq` gave). */
  async counts(since = 0): Promise<RequestCounts> {
    return (await (await this.control('GET', `counts?since=${since}`)).json()) as RequestCounts;
  }

  async lastSeq(): Promise<number> {
    return Number(await (await this.control('GET', 'last-seq')).text());
  }

  async setLatency(ms: number): Promise<void> {
    await this.control('PUT', `latency?ms=${ms}`);
  }

  async stop(): Promise<void> {
    await this.child.stop();
  }

  private async control(method: string, path: string): Promise<Response> {
    const answer = await fetch(`http://127.0.0.1:${this.said.controlPort}/${path}`, { method });
    if (!answer.ok) throw new Error(`The double of OSS answered ${answer.status} to ${method} ${path}.`);
    return answer;
  }
}
