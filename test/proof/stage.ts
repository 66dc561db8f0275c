import { collectGarbage } from '../../src/app/gc.js';
import { isCommitterError } from '../../src/core/errors.js';
import type { RequestKind } from '../../src/adapters/decorators/intercepted-store.js';
import { isStoreError, type StoreCapabilities } from '../../src/ports/object-store.js';
import { Checks } from './checks.js';
import { Driver, DriverDied, type DriverOptions } from './driver.js';
import { outageMs, type Fault } from './faults.js';
import type { MakeWorldStore } from './world-store.js';
import { bucket, Daemon, isRepeatable, World } from './world.js';

/**
 * Who goes on after a daemon died: its clients, at another daemon; or, where the driver died as well, the
 * operator, or nobody but gc. (The next job attempt goes on in the scenarios that are about it.)
 */
export const recoveries = ['clients', 'jobs abort', 'jobs commit', 'gc'] as const;
export type Recovery = (typeof recoveries)[number];

export interface Scenario {
  readonly name: string;
  /** What is proved, for people. */
  readonly about: string;
  /** Few enough requests for a second death at each request of the recovery. */
  readonly isSmall?: boolean;
  /** The seed matters: something happens at once. */
  readonly isRace?: boolean;
  readonly capabilities?: Partial<StoreCapabilities>;
  readonly pageSize?: number;
  readonly isExclusive?: boolean;
  /** Of pendingsets between decision and publication, as of a job that is too large for more. */
  readonly heldBytes?: number;
  /** Without any failure something is left that only gc ends: tombstones of late calls, or uploads as well. */
  readonly leavesToGc?: 'records' | 'uploads';
  /** After the recovery the operator has to end the job by force. */
  readonly needsForce?: boolean;
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
  /** Of the scenario, without recovery and gc. */
  readonly requests: number;
  readonly kinds: readonly RequestKind[];
  /** After the last fault, with recovery and gc. */
  readonly requestsAfter: number;
  readonly triggered: readonly string[];
  readonly violations: readonly string[];
  /** Uploads that no record and no ledger knew: their daemon died within a second of opening them. */
  readonly orphans: number;
}

const ttlMs = 7 * 86_400_000;

/** One world with its drivers, from the first request to the last check. */
export class Stage {
  readonly world: World;
  readonly drivers: Driver[] = [];
  readonly checks: Checks;
  private requests = 0;
  private requestsAfter = 0;
  private orphans = 0;

  private constructor(
    private readonly scenario: Scenario,
    private readonly plan: RunPlan,
    makeStore: MakeWorldStore | undefined,
  ) {
    const { capabilities, pageSize, isExclusive, heldBytes } = scenario;
    this.world = new World({
      seed: plan.seed,
      faults: plan.faults,
      retries: plan.retries,
      ...(capabilities === undefined ? {} : { capabilities }),
      ...(pageSize === undefined ? {} : { pageSize }),
      ...(isExclusive === undefined ? {} : { isExclusive }),
      ...(heldBytes === undefined ? {} : { heldBytes }),
      ...(makeStore === undefined ? {} : { makeStore }),
    });
    this.world.driversDieToo = plan.recovery !== 'clients';
    this.checks = new Checks(this.world, this.drivers);
    // A DELETE that is under way for long meets another object than the one that was looked at.
    this.checks.mayLoseMarker = capabilities?.conditionalDelete === false;
    if (capabilities?.conditionalComplete === false) this.checks.completesOver = 'always';
    else if (capabilities?.dearConditionalComplete === true)
      this.checks.completesOver = 'unless the mode is fail';
    this.checks.mayLoseOverwritten = scenario.needsForce === true;
  }

  static async run(scenario: Scenario, plan: RunPlan, makeStore?: MakeWorldStore): Promise<RunResult> {
    const stage = new Stage(scenario, plan, makeStore);
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
      kinds: world.injector.kinds.slice(0, stage.requests),
      requestsAfter: stage.requestsAfter,
      triggered: world.injector.triggered,
      violations: [...new Set(world.violations)],
      orphans: stage.orphans,
    };
  }

  driver(options: DriverOptions): Driver {
    const driver = new Driver(this.world, options);
    this.drivers.push(driver);
    return driver;
  }

  /** So many daemons run from the start. */
  daemons(count: number): void {
    while (this.world.daemons.length < count) this.world.start();
  }

  /** For what an outsider does at some moment. */
  async moments(limit: number): Promise<void> {
    for (let turns = this.world.random.below(limit); turns > 0; turns--) await this.world.turn();
  }

  /** Until such an object is there, in the middle of whatever goes on; not for ever, since it may never be. */
  async untilWritten(part: string): Promise<void> {
    for (let turns = 1; turns < 1_500; turns++) {
      if (turns % 3 === 0 && this.isWritten(part)) return;
      // Time moves only when nothing else can.
      if (turns > 600 && turns % 50 === 0) await this.world.pass(5_000);
      else await this.world.turn();
    }
  }

  private isWritten(part: string): boolean {
    for (const [key] of this.world.raw.entries(bucket)) if (key.includes(part)) return true;
    return false;
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
    // One driver died, others may be at work yet.
    for (let waits = 0; waits < 2_000 && (waits === 0 || this.world.activeCalls > 0); waits++)
      await this.world.pass(500);
    await this.world.injector.arriveAll();
    await this.world.untilLanded();
    // A daemon that is told to stop while the store is away loses its ledger.
    if (this.world.injector.isOutage) await this.world.pass(outageMs);
    // What follows a rollback after a while happens before the look at what is left.
    if (this.plan.faults.length === 0) await this.world.pass(60_000);
    await this.idle();
    const { leavesToGc } = this.scenario;
    if (this.plan.faults.length === 0 && leavesToGc !== 'uploads') this.checks.tidy(leavesToGc === 'records');
    await this.collect();
    this.requestsAfter = this.world.injector.counted;
    if (this.plan.recovery === 'clients') this.scenario.check?.(this);
    this.checks.final();
    await this.endOrphans();
  }

  private async recover(): Promise<void> {
    const { recovery } = this.plan;
    for (const token of new Set(this.drivers.map(({ options }) => options.token))) {
      if (recovery === 'jobs commit') await this.operate(token, 'commit');
      const isByHand = recovery === 'jobs abort' || recovery === 'jobs commit';
      if (isByHand || this.scenario.needsForce === true) await this.operate(token, 'abort');
    }
  }

  /** The operator's command line: a process of its own, run again when it fails. */
  async operate(token: string, command: 'commit' | 'abort' | 'force'): Promise<void> {
    for (let tries = 0; ; tries++) {
      const daemon = new Daemon(this.world, 0);
      try {
        await daemon.run(async ({ app }) => {
          if (command === 'commit') await app.admin.commit(token);
          else await app.admin.abort(token, 'by hand', command === 'force');
          await app.close();
        });
        return;
      } catch (error) {
        // Somebody else may be removing what it goes by: a second look says that the job is gone.
        const isMoving =
          (isCommitterError(error, 'RECORD_UNREADABLE') ||
            // The next job attempt is being set up.
            (command === 'abort' && isCommitterError(error, 'JOB_SUPERSEDED'))) &&
          tries < 3;
        if (isMoving || (isRepeatable(error) && tries < 20)) {
          await this.world.pass(Math.min(200 * 2 ** tries, 60_000));
          continue;
        }
        if (isCommitterError(error, 'OVERWROTE_OBJECTS')) {
          if (command === 'abort')
            return this.operate(token, this.scenario.needsForce === true ? 'force' : 'commit');
          if (command === 'force') return this.operate(token, 'commit');
        }
        // Its task records were with the driver.
        if (command === 'commit' && isCommitterError(error, 'FOREIGN_OBJECT', 'WINNER_NOT_COMMITTED')) return;
        if (!isCommitterError(error, ...finalReasons)) throw error;
        return;
      }
    }
  }

  /** `gc`, with the age that makes every job abandoned; run again when it fails. */
  async collect(prefix?: string): Promise<void> {
    for (let tries = 0; ; tries++) {
      const daemon = new Daemon(this.world, 0);
      try {
        await daemon.run(async ({ app }) => {
          const options = { olderThanMs: -1, ttlMs, dryRun: false };
          const report = await collectGarbage(
            app.context,
            prefix === undefined ? options : { ...options, prefix },
          );
          await app.context.background.idle();
          if (report.jobs.some(({ problem }) => problem !== undefined) && tries < 5) throw new Incomplete();
        });
        return;
      } catch (error) {
        const isAgain = error instanceof Incomplete || isRepeatable(error) || isStoreError(error);
        if (!isAgain || tries > 20) throw error;
        // It runs again a minute later: longer than an outage, all in all.
        await this.world.pass(60_000);
      }
    }
  }

  /** Days later gc forgets what has ended. */
  async expire(): Promise<void> {
    await this.world.pass(2_000);
    for (const daemon of this.world.daemons) {
      if (!daemon.isDead) await daemon.run(({ context }) => context.background.idle()).catch(() => undefined);
    }
    await this.world.injector.arriveAll();
    await this.collect();
    this.checks.final();
    this.checks.rememberEnded();
    this.world.jump(2 * ttlMs);
    await this.collect();
  }

  /** Background work is over, and every ledger is written. */
  async idle(): Promise<void> {
    for (const daemon of this.world.daemons) {
      if (daemon.isDead) continue;
      await daemon.run(({ app }) => app.close()).catch(() => undefined);
      // What it could not write down by then is lost with it.
      if (this.world.injector.isOutage) daemon.diedAt = Math.min(daemon.diedAt, this.world.time.nowMs);
    }
  }

  /** What the user names by prefix and age, nobody's excepted. */
  private async endOrphans(): Promise<void> {
    this.orphans = this.checks.uploads().length;
    if (this.orphans === 0 || this.scenario.capabilities?.listUploadsByPrefix === false) return;
    await this.collect(`s3a://${bucket}/`);
    this.checks.nothingOpen();
  }
}

class Incomplete extends Error {}

/** Answers after which the operator has nothing more to do. */
const finalReasons = [
  'JOB_NOT_FOUND',
  'JOB_ABORTED',
  'JOB_SUPERSEDED',
  'DESTINATION_EXISTS',
  'DUPLICATE_KEY',
] as const;
