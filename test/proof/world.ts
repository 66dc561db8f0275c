import { CommitterApp } from '../../src/app/app.js';
import type { AppContext } from '../../src/app/context.js';
import { RetryingStore } from '../../src/adapters/decorators/retrying-store.js';
import { isCommitterError } from '../../src/core/errors.js';
import { parseUri } from '../../src/core/uri.js';
import type { Logger } from '../../src/ports/logger.js';
import type { Metrics } from '../../src/ports/metrics.js';
import { isStoreError, type ObjectStore, type StoreCapabilities } from '../../src/ports/object-store.js';
import type { TaskAttempt } from './driver.js';
import { FaultInjector, FaultyNetwork, type Fault, type Mortal, type Observation } from './faults.js';
import { SeededRandom } from './seeded-random.js';
import { DaemonClock, VirtualTime } from './virtual-clock.js';
import { memoryStore, type MakeWorldStore, type RawStore, type WorldStore } from './world-store.js';

export const bucket = 'data';
export const stagingKey = '.commitbridge/jobs';

export interface WorldOptions {
  readonly seed: number;
  readonly faults: readonly Fault[];
  readonly capabilities?: Partial<StoreCapabilities>;
  /** Store requests are repeated below the engine, as in production; otherwise each failure reaches it. */
  readonly retries: boolean;
  /** Entries in a page of a listing. */
  readonly pageSize?: number;
  /** `cleanup.listing: exclusive`. */
  readonly isExclusive?: boolean;
  readonly heldBytes?: number;
  /** Where it isn't the store in memory. */
  readonly makeStore?: MakeWorldStore;
}

const ledgerIntervalMs = 500;
const maxRunMs = 3 * 3_600_000;

export class DaemonDied extends Error {
  override readonly name = 'DaemonDied';
}

export class Hung extends Error {
  override readonly name = 'Hung';
}

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};
const unmeasured: Metrics = { count: () => undefined, observe: () => undefined, gauge: () => undefined };

/** One daemon process: an object graph of its own. Nothing of it is shared but the store. */
export class Daemon implements Mortal {
  isDead = false;
  /** In virtual time. */
  diedAt = Infinity;
  readonly context: AppContext;
  readonly app: CommitterApp;
  private readonly death: Promise<never>;
  private killed: () => void = () => undefined;

  constructor(
    private readonly world: World,
    skewMs: number,
  ) {
    this.death = new Promise((_, reject) => {
      this.killed = () => {
        reject(new DaemonDied());
      };
    });
    this.death.catch(() => undefined);
    const clock = new DaemonClock(world.time, skewMs, () => this.isDead);
    const random = new SeededRandom(world.random.below(2 ** 31));
    const network = new FaultyNetwork(
      world.paged,
      world.injector,
      this,
      world.observed(this),
      world.store.fail,
    );
    const store = world.options.retries
      ? new RetryingStore(
          network,
          { attempts: 4, baseDelayMs: 100, maxDelayMs: 1_000 },
          { store: 'data', clock, random, metrics: unmeasured },
        )
      : network;
    this.app = new CommitterApp({
      roots: [
        {
          uri: parseUri(`s3a://${bucket}/`, 'root'),
          storeName: 'data',
          store,
          staging: { bucket, key: stagingKey },
          principals: [],
          ...(world.options.isExclusive === true ? { listing: 'exclusive' as const } : {}),
        },
      ],
      clock,
      random,
      logger: silent,
      metrics: unmeasured,
      options: {
        version: '0.0.0',
        completeConcurrency: 3,
        recordConcurrency: 3,
        signedUrlSeconds: 900,
        firstPartBytes: 8 * 1024 * 1024,
        maxInlineBytes: 16 * 1024,
        maxInlineBytesPerAttempt: 1024 * 1024,
        requestBoundMs: 45_000,
        heldBytes: world.options.heldBytes ?? 32 * 1024 * 1024,
        cleanup: true,
        ledgerIntervalMs,
        maxMessageBytes: 1024 * 1024,
      },
    });
    this.context = this.app.context;
  }

  die(): void {
    this.isDead = true;
    this.diedAt = this.world.time.nowMs;
    this.killed();
  }

  /** A call from outside: when the daemon dies, the caller's connection breaks. */
  run<T>(call: (daemon: Daemon) => Promise<T>): Promise<T> {
    return Promise.race([call(this), this.death]);
  }
}

/** A store, daemons, time and chance; everything that happens in it follows from the seed and the faults. */
export class World {
  readonly time = new VirtualTime();
  readonly random: SeededRandom;
  readonly injector: FaultInjector;
  readonly store: WorldStore;
  readonly raw: RawStore;
  readonly paged: ObjectStore;
  readonly daemons: Daemon[] = [];
  /** Violations of what must hold at every instant. */
  readonly violations: string[] = [];
  /** Every run of a task that any driver began, by its attempt id. */
  readonly attempts = new Map<string, TaskAttempt>();
  /** Calls of drivers that have not been answered. */
  activeCalls = 0;
  /** Drivers are lost with the daemon that they speak to: somebody else has to recover. */
  driversDieToo = false;
  /** By upload id: how long its parts are under way, from the moment at which the store took them on. */
  readonly partDelays = new Map<string, number>();
  /** When the last part that is under way lands. */
  private landedMs = 0;
  /** Set by the checks. */
  onEffect: (kind: string) => void = () => undefined;
  /** Uploads that no record and no ledger may know: see {@link mayBeOrphan}. */
  private readonly opened = new Map<
    string,
    { readonly daemon: Daemon; readonly at: number; readonly isKnown: boolean }
  >();
  /** For how long anything may take. */
  private limitMs = this.time.nowMs + maxRunMs;

  constructor(readonly options: WorldOptions) {
    this.random = new SeededRandom(options.seed);
    this.injector = new FaultInjector(options.faults, () => this.time.nowMs);
    const { seed, capabilities = {}, makeStore = memoryStore } = options;
    this.store = makeStore({
      ...{ bucket, seed, capabilities },
      nowMs: () => this.time.nowMs,
      partPause: (uploadId) => {
        const delayMs = this.partDelays.get(uploadId) ?? 0;
        this.landedMs = Math.max(this.landedMs, this.time.nowMs + delayMs);
        return this.pass(delayMs);
      },
    });
    this.raw = this.store.raw;
    const ofDaemons = this.store.ofDaemons ?? this.raw;
    this.paged = options.pageSize === undefined ? ofDaemons : smallPages(ofDaemons, options.pageSize);
  }

  observed(daemon: Daemon): Observation {
    return {
      effect: (kind) => {
        this.onEffect(kind);
      },
      opened: (uploadId, isKnown) => {
        this.opened.set(uploadId, { daemon, at: this.time.nowMs, isKnown });
      },
      pass: (ms) => this.pass(ms),
    };
  }

  /**
   * Nobody can find it but by listing: its daemon never learned its id, or died before a ledger flush was due. An
   * upload is in the ledger after twice the interval at the latest, or as long after the store is back.
   */
  mayBeOrphan(uploadId: string): boolean {
    const opened = this.opened.get(uploadId);
    // The reply of a store that failed by itself: nobody here heard that id.
    if (opened === undefined) return this.store.fail !== undefined;
    const graceMs = 2 * ledgerIntervalMs;
    const since = this.injector.backAfterOutage(opened.at, opened.at + graceMs);
    return !opened.isKnown || opened.daemon.diedAt - since <= graceMs;
  }

  /** A daemon beside those that run; clocks disagree by an hour. */
  start(): Daemon {
    const skews = [0, 3_600_000, -3_600_000];
    const daemon = new Daemon(this, skews[this.daemons.length % skews.length] ?? 0);
    this.daemons.push(daemon);
    return daemon;
  }

  /** The nth daemon as a client reaches it: started anew when it is dead. */
  daemon(index = 0): Daemon {
    const alive = this.daemons.filter((daemon) => !daemon.isDead);
    return alive[index] ?? alive[0] ?? this.start();
  }

  /** Lets the world run until the work is done; its failure is the caller's. */
  async settle<T>(work: Promise<T>): Promise<T> {
    const state = { done: false };
    const mark = (): void => {
      state.done = true;
    };
    work.then(mark, mark);
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (state.done) return work;
      if (this.store.underWay() > 0) continue;
      if (!this.time.advance() || this.time.nowMs > this.limitMs)
        throw new Hung('nothing is left that could go on');
    }
  }

  /** Others may go on. */
  turn(): Promise<void> {
    return this.store.turn();
  }

  /** A job is taken for abandoned when nothing of it can be under way any more. */
  untilLanded(): Promise<void> {
    return this.pass(Math.max(0, this.landedMs - this.time.nowMs));
  }

  /** Days pass at once: timers that were due ring late, and what a daemon remembers looks fresh, as on a machine that slept. */
  jump(ms: number): void {
    this.time.nowMs += ms;
    this.time.sleptMs += ms;
    this.limitMs += ms;
  }

  /** Virtual time passes, with everything that becomes due in it. */
  pass(ms: number): Promise<void> {
    if (ms === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.time.add(this.time.nowMs + ms, resolve);
    });
  }
}

/** A call that its client may repeat: the daemon died, said UNAVAILABLE, or has new credentials by now. */
export function isRepeatable(error: unknown): boolean {
  return (
    error instanceof DaemonDied ||
    isCommitterError(error, 'STORE_UNAVAILABLE') ||
    (isStoreError(error) &&
      (error.isTransient || error.kind === 'conflict' || error.kind === 'expired-credentials'))
  );
}

function smallPages(store: ObjectStore, size: number): ObjectStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'list') {
        return (b: string, prefix: string, page: object, call?: object) =>
          target.list(b, prefix, { ...page, maxKeys: size }, call);
      }
      if (name === 'listUploads') {
        return (b: string, prefix: string, page: object, call?: object) =>
          target.listUploads(b, prefix, { ...page, maxUploads: size }, call);
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
