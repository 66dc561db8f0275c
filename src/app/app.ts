import type { Clock, Random } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import { Background } from './background.js';
import type { AppContext, AppOptions } from './context.js';
import { sweepEndedJob } from './ended-job-sweep.js';
import { JobAdmin } from './job-admin.js';
import { JobDirectory } from './job-directory.js';
import { JoinedCalls } from './joined-calls.js';
import { Ledger } from './ledger.js';
import { Roots, type Root } from './roots.js';

export interface AppDependencies {
  readonly roots: readonly Root[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly options: AppOptions;
}

/** The engine of one daemon: everything in memory can be lost at any instant. */
export class CommitterApp {
  readonly context: AppContext;
  readonly admin: JobAdmin;

  constructor(dependencies: AppDependencies) {
    const { clock, random, logger, metrics, options } = dependencies;
    const roots = new Roots(dependencies.roots);
    this.context = {
      roots,
      clock,
      random,
      logger,
      metrics,
      options,
      jobs: new JobDirectory(roots, clock),
      ledger: new Ledger(clock, random, logger, options.ledgerIntervalMs, (...job) =>
        sweepEndedJob(this.context, ...job),
      ),
      background: new Background(logger),
      joined: new JoinedCalls(),
    };
    this.admin = new JobAdmin(this.context);
  }

  /** Waits for background work and writes the ledger down. */
  async close(): Promise<void> {
    await this.context.background.close();
    await this.context.ledger.close();
  }
}
