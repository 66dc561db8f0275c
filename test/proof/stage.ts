import { collectGarbage } from '../../src/app/gc.js';
import { isCommitterError } from '../../src/core/errors.js';
import type { StoreCapabilities } from '../../src/ports/object-store.js';
import { Checks } from './checks.js';
import { Driver, DriverDied, type DriverOptions } from './driver.js';
import type { Fault } from './faults.js';
import { bucket, Daemon, isRepeatable, World } from './world.js';

/**
 * Who goes on after a daemon died: its clients, at another daemon; or, where the driver died as well, the
 * operator, the next job attempt, or nobody but gc.
 */
export const recoveries = ['clients', 'jobs abort', 'jobs commit', 'gc'] as const;
export type Recovery = (typeof recoveries)[number];

export interface Scenario {
  readonly name: string;
  /** What is proved, for people. */
  readonly about: string;
  /** Few enough requests for a second death at each request of the recovery. */
  readonly isSmall?: boolean;
  readonly capabilities?: Partial<StoreCapabilities>;
  readonly pageSize?: number;
  /** Before the first request that counts. */
  prepare?(stage: Stage): Promise<void>;
  run(stage: Stage): Promise<void>;
  /** What must hold besides G1 to G4, when the clients recovered. */
  check?(stage: Stage): void;
}

export interface RunPlan {
  readonly seed: number;
  readonly faults: readonly Fault[];
  readonly recovery: Recovery;
  readonly retries: boolean;
}

export interface RunResult {
  readonly requests: number;
  readonly triggered: readonly string[];
  readonly violations: readonly string[];
  /** Uploads that no record and no ledger knew: their daemon died within a second of opening them. */
  readonly orphans: number;
}

/** One world with its drivers, from the first request to the last check. */
export class Stage {
  readonly world: World;
  readonly drivers: Driver[] = [];
  readonly checks: Checks;
  private started = false;

  private constructor(
    private readonly scenario: Scenario,
    private readonly plan: RunPlan,
  ) {
    this.world = new World({
      seed: plan.seed,
      faults: plan.faults,
      retries: plan.retries,
      ...(scenario.capabilities === undefined ? {} : { capabilities: scenario.capabilities }),
      ...(scenario.pageSize === undefined ? {} : { pageSize: scenario.pageSize }),
    });
    this.world.driversDieToo = plan.recovery !== 'clients';
    this.checks = new Checks(this.world, this.drivers);
  }

  static async run(scenario: Scenario, plan: RunPlan): Promise<RunResult> {
    const stage = new Stage(scenario, plan);
    try {
      await stage.world.settle(stage.play());
    } catch (error) {
      stage.checks.violate(
        `it failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    }
    const { world } = stage;
    return {
      requests: stage.requests,
      triggered: world.injector.triggered,
      violations: [...new Set(world.violations)],
      orphans: stage.orphans,
    };
  }

  requests = 0;
  orphans = 0;

  driver(options: DriverOptions): Driver {
    const driver = new Driver(this.world, options);
    this.drivers.push(driver);
    return driver;
  }

  /** True once a death has ended the drivers. */
  get isRecovering(): boolean {
    return this.started;
  }

  private async play(): Promise<void> {
    await this.scenario.prepare?.(this);
    try {
      await this.scenario.run(this);
    } catch (error) {
      if (!(error instanceof DriverDied)) throw error;
    }
    this.requests = this.world.injector.total;
    await this.recover();
    await this.world.injector.arriveAll();
    await this.idle();
    await this.collect();
    await this.endOrphans();
    if (this.plan.recovery === 'clients') this.scenario.check?.(this);
    this.checks.final();
  }

  private async recover(): Promise<void> {
    this.started = true;
    const { recovery } = this.plan;
    for (const token of new Set(this.drivers.map(({ options }) => options.token))) {
      if (recovery === 'jobs commit') await this.operate(token, 'commit');
      if (recovery === 'jobs abort' || recovery === 'jobs commit') await this.operate(token, 'abort');
    }
  }

  /** The operator's command line: a process of its own, run again when it fails. */
  private async operate(token: string, command: 'commit' | 'abort'): Promise<void> {
    for (let tries = 0; ; tries++) {
      const daemon = new Daemon(this.world, 0);
      try {
        await daemon.run(async ({ app }) => {
          if (command === 'commit') await app.admin.commit(token);
          else await app.admin.abort(token, 'by hand');
        });
        return;
      } catch (error) {
        if (isRepeatable(error) && tries < 20) continue;
        if (isCommitterError(error, 'OVERWROTE_OBJECTS')) return this.operate(token, 'commit');
        if (
          isCommitterError(
            error,
            'JOB_NOT_FOUND',
            'JOB_ABORTED',
            'JOB_SUPERSEDED',
            'DESTINATION_EXISTS',
            'DUPLICATE_KEY',
          )
        )
          return;
        throw error;
      }
    }
  }

  /** gc twice: the second must find nothing that the first should have done. */
  async collect(): Promise<void> {
    for (let tries = 0; tries < 20; tries++) {
      const daemon = new Daemon(this.world, 0);
      try {
        await daemon.run(async ({ app }) => {
          const forced = { olderThanMs: 0, ttlMs: 7 * 86_400_000, dryRun: false };
          await collectGarbage(app.context, forced);
          await app.context.background.idle();
        });
        return;
      } catch (error) {
        if (!isRepeatable(error)) throw error;
      }
    }
  }

  private async idle(): Promise<void> {
    for (const daemon of this.world.daemons) {
      if (!daemon.isDead) await daemon.run(({ app }) => app.close()).catch(() => undefined);
    }
  }

  /** What `uploads abort --prefix` would end. Allowed only where a daemon died. */
  private async endOrphans(): Promise<void> {
    const orphans = this.checks.openUploads();
    this.orphans = orphans.length;
    const someoneDied = this.plan.faults.length > 0;
    if (!someoneDied) return;
    for (const { key, uploadId } of orphans) await this.world.raw.abort({ bucket, key, uploadId });
  }
}
