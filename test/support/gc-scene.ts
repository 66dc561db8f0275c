import { MemoryObjectStore } from '../../src/adapters/memory/memory-object-store.js';
import { collectGarbage, type GcOptions, type GcReport } from '../../src/app/gc.js';
import type { ListPageOptions, StoreCapabilities, UploadPageOptions } from '../../src/ports/object-store.js';
import {
  bucket,
  isOnOss,
  newMemoryStore,
  smallParts,
  startMemoryDaemon,
  TestJob,
  type Faults,
  type MemoryDaemon,
  type MemoryDaemonOptions,
  type TestJobOptions,
} from './memory-daemon/index.js';

export const day = 86_400_000;

interface Clock {
  nowMs: number;
}

/** Every listing comes in pages of 2. The store's clock stands still until a test moves it, far from the daemon's. */
class SmallPages extends MemoryObjectStore {
  constructor(clock: Clock, capabilities: Partial<StoreCapabilities>) {
    super({
      buckets: [bucket],
      capabilities: { ...smallParts, ...capabilities },
      clock: { nowMs: () => clock.nowMs },
    });
  }

  override list(name: string, prefix: string, page: ListPageOptions) {
    return super.list(name, prefix, { ...page, maxKeys: 2 });
  }

  override listUploads(name: string, prefix: string, page: UploadPageOptions) {
    return super.listUploads(name, prefix, { ...page, maxUploads: 2 });
  }
}

/** A daemon that runs jobs, and the process of an operator beside it, on one store. */
export class GcScene {
  daemon!: MemoryDaemon;
  operator!: MemoryDaemon;

  private constructor(
    readonly memory: MemoryObjectStore,
    readonly options: MemoryDaemonOptions,
    private readonly clock: Clock,
  ) {}

  static async start(
    capabilities: Partial<StoreCapabilities> = {},
    options: MemoryDaemonOptions = {},
  ): Promise<GcScene> {
    const clock = { nowMs: Date.UTC(1999, 11, 1) };
    const memory = isOnOss()
      ? newMemoryStore(capabilities, { now: () => clock.nowMs, pageSize: 2 })
      : new SmallPages(clock, capabilities);
    const scene = new GcScene(memory, { ...options, memory }, clock);
    scene.daemon = await scene.startDaemon();
    scene.operator = await scene.startDaemon();
    return scene;
  }

  startDaemon(): Promise<MemoryDaemon> {
    return startMemoryDaemon(this.options);
  }

  newJob(options: TestJobOptions = {}): TestJob {
    return new TestJob(this.daemon.client, this.memory, options);
  }

  later(ms: number): void {
    this.clock.nowMs += ms;
  }

  async gc(options: Partial<GcOptions> = {}): Promise<GcReport> {
    const report = await collectGarbage(this.operator.app.context, {
      ...{ olderThanMs: 7 * day, ttlMs: 7 * day, dryRun: false },
      ...options,
    });
    await this.operator.idle();
    return report;
  }

  /** The daemon dies at the first request that matches, and never answers the call; another one takes its place. */
  async dieAt(
    call: () => Promise<unknown>,
    matches: (key: string, op: string) => boolean,
    when: 'before' | 'after' = 'before',
  ): Promise<void> {
    let isDead = false;
    const faults: Faults = ({ key, op }) => {
      if (isDead) return { kill: 'before' };
      if (!matches(key, op)) return undefined;
      isDead = true;
      return { kill: when };
    };
    this.daemon.faults.watch(faults);
    const reached = this.daemon.faults.reached(({ key, op }) => matches(key, op));
    call().catch(() => undefined);
    await reached;
    await this.daemon.faults.quiet();
    this.daemon.kill();
    this.daemon = await this.startDaemon();
  }

  /** Another writer's object at a key of the job. */
  async put(job: TestJob, name: string, content: string): Promise<void> {
    const key = `${job.destination.replace(`s3a://${bucket}/`, '')}/${name}`;
    await this.memory.put({ bucket, key }, Buffer.from(content), {});
  }

  /** As a lifecycle rule or another tool does. */
  async destroyUpload(name: string): Promise<void> {
    const upload = this.memory.uploads(bucket).find(({ key }) => key.endsWith(`/${name}`))!;
    await this.memory.abort(upload);
  }

  everything(): unknown[] {
    return [this.memory.objects(bucket), this.memory.uploads(bucket)];
  }
}
