import { DriverDied, type Driver, type TaskAttempt } from '../driver.js';
import type { Scenario, Stage } from '../stage.js';

/** MapReduce's masters where one has decided: adoption, its hooks, recovery of what others counted. */

async function decided(stage: Stage, files = 2): Promise<Driver> {
  const first = stage.driver({ token: 'job', jobAttempt: 1 });
  await first.setup();
  for (let task = 0; task < files; task++) await first.runTask(task, [`part-${task}`]);
  // The master is gone while its daemon still publishes: nobody waits for the answer.
  void first.commit().catch(() => undefined);
  for (let turns = 0; turns < 60; turns++) await stage.world.turn();
  return first;
}

/** What the framework does where a task is in its history: rerun it where it can't be recovered. */
async function recoverOrRerun(next: Driver, done: TaskAttempt, task: number, number: number): Promise<void> {
  const isRecovered = await next.recover(done).then(
    () => true,
    (error: unknown) => {
      if (error instanceof DriverDied) throw error;
      return false;
    },
  );
  if (isRecovered) next.committedAttempts.push(done);
  else await next.runTask(task, [`part-${task}`], number);
}

function mustBeCommitted(...indexes: number[]) {
  return ({ checks, drivers }: Stage): void => {
    for (const index of indexes) {
      const driver = drivers[index];
      if (driver?.told !== 'committed')
        checks.violate(
          `AM ${index + 1} was told ${driver?.told ?? 'nothing'}: ${driver?.failure?.message ?? ''}`,
        );
    }
  };
}

export const masterScenarios: readonly Scenario[] = [
  {
    name: 'AM 2 adopts, then its hook',
    about: 'AM 1 decided; AM 2 sets up, commits, and its shutdown hook aborts',
    async run(stage) {
      await decided(stage);
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      await second.setup();
      await second.commit();
      await second.abort();
    },
    check: mustBeCommitted(1),
  },
  {
    name: 'AM 2 adopts, its hook beside its commitJob',
    about: 'abortJob acts on the adopted decision: all or none',
    isRace: true,
    async run(stage) {
      stage.daemons(3);
      await decided(stage);
      const second = stage.driver({ token: 'job', jobAttempt: 2, daemon: 1 });
      await second.setup();
      await Promise.all([second.commit(), second.abort('this-and-earlier', 2)]);
    },
  },
  {
    name: 'AM 2 adopts and aborts, AM 3 starts',
    about: 'the adopted decision is rolled back by AM 2; AM 3 runs the job anew',
    isRace: true,
    async run(stage) {
      await decided(stage);
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      await second.setup();
      await second.abort();
      const third = stage.driver({ token: 'job', jobAttempt: 3 });
      if (second.told === 'committed') return;
      if ((await third.trySetup()) !== undefined) return;
      for (const task of [0, 1]) await third.runTask(task, [`part-${task}`], 2_000);
      await third.commit();
    },
  },
  {
    name: 'AM 2 adopts, its hook after AM 3 adopted too',
    about: 'the decision of AM 1 is AM 3’s to roll forward: what AM 2 calls late undoes nothing',
    isRace: true,
    async run(stage) {
      stage.daemons(3);
      const first = stage.driver({ token: 'job', jobAttempt: 1 });
      await first.setup();
      for (const task of [0, 1]) await first.runTask(task, [`part-${task}`]);
      // The publisher dies with its master.
      const [publisher] = stage.world.daemons;
      void first.commit().catch(() => undefined);
      await stage.untilWritten('/1/decision.json');
      publisher?.die();
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      await second.setup();
      const third = stage.driver({ token: 'job', jobAttempt: 3, daemon: 1 });
      await third.setup();
      await Promise.all([second.abort(), third.commit()]);
      if (second.told === 'aborted') stage.checks.violate('a superseded AM undid what its successor adopted');
    },
    check: mustBeCommitted(2),
  },
  {
    name: 'a rollback killed half-way, then AM 2',
    about: 'setupJob finishes it before anything else',
    isRace: true,
    async run(stage) {
      stage.daemons(2);
      const first = stage.driver({ token: 'job', jobAttempt: 1 });
      await first.setup();
      for (const task of [0, 1, 2]) await first.runTask(task, [`part-${task}`]);
      const hook = stage.driver({ token: 'job', jobAttempt: 1, daemon: 1 });
      // Both daemons die with their master: the publisher, and a moment later the one that undoes it.
      const [publisher, undoer] = stage.world.daemons;
      void first.commit().catch(() => undefined);
      await stage.untilWritten('/1/decision.json');
      publisher?.die();
      void hook.abort('this-and-earlier', 1).catch(() => undefined);
      await stage.untilWritten('/1/outcome.json');
      await stage.moments(40);
      undoer?.die();
      stage.drivers.splice(stage.drivers.indexOf(hook), 1);
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      await second.setup();
      stage.checks.noUnfinishedRollback('job');
      for (const task of [0, 1, 2]) await second.runTask(task, [`part-${task}`], 1_000);
      await second.commit();
    },
    check: mustBeCommitted(1),
  },
  {
    name: 'AM 2 adopts, every call twice',
    about: 'SetupJob, CommitJob and AbortJob repeated',
    async run(stage) {
      await decided(stage, 1);
      const second = stage.driver({ token: 'job', jobAttempt: 2, repeats: true });
      await second.setup();
      await second.commit();
      await second.abort();
    },
    check: mustBeCommitted(1),
  },
  {
    name: 'AM 2 adopts and reruns a task',
    about: 'the history was lost: the rerun is refused nothing, and its files go as a loser’s',
    leavesToGc: 'uploads',
    async run(stage) {
      await decided(stage);
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      await second.setup();
      const rerun = second.attempt(0, 1_000);
      if (await rerun.write('part-0')) {
        if (!(await rerun.commit())) stage.checks.violate('a rerun in an adopting attempt was refused');
      }
      await second.attempt(1, 1_000).write('part-1');
      await second.commit();
    },
    check: mustBeCommitted(1),
  },
  {
    name: 'AM 3 asks for a rerun of AM 2, which adopted',
    about: 'the adopted decision does not list it: NOT_FOUND, so that nobody counts what is not published',
    leavesToGc: 'uploads',
    async run(stage) {
      await decided(stage);
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      await second.setup();
      const rerun = await second.runTask(0, ['part-0'], 1_000);
      const third = stage.driver({ token: 'job', jobAttempt: 3 });
      await third.setup();
      const isRecovered = await third.recover(rerun).then(
        () => true,
        (error: unknown) => {
          if (error instanceof DriverDied) throw error;
          return false;
        },
      );
      const plan = stage.checks.factsOfSync('job').find(({ decision }) => decision === 'commit')?.plan;
      const isListed = plan?.winners.some(({ attempt }) => attempt.id === rerun.ref.attemptId);
      if (isRecovered && isListed === false)
        stage.checks.violate('a task attempt was recovered that the adopted decision does not list');
      await third.commit();
    },
  },
  {
    name: 'AM 3 recovers what AM 1 published',
    about: 'through AM 2, which adopted: NOT_FOUND unless the adopted decision lists it, never zero winners',
    async run(stage) {
      const first = await decided(stage);
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      await second.setup();
      for (const [task, done] of first.committedAttempts.entries())
        await recoverOrRerun(second, done, task, 1_000);
      const third = stage.driver({ token: 'job', jobAttempt: 3 });
      await third.setup();
      // AM 3 reads the history of AM 2, which holds what that recovered or ran.
      for (const [task, done] of [...second.committedAttempts].entries())
        await recoverOrRerun(third, done, task, 2_000);
      await third.commit();
    },
    check: mustBeCommitted(2),
  },
  {
    name: 'AM 3 recovers what AM 2 counted',
    about: 'AM 2 recovers a task of AM 1 and runs another; AM 3 recovers both from AM 2',
    isSmall: true,
    async run(stage) {
      const first = stage.driver({ token: 'job', jobAttempt: 1 });
      await first.setup();
      const zero = await first.runTask(0, ['part-0']);
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      await second.setup();
      await recoverOrRerun(second, zero, 0, 1_000);
      const one = await second.runTask(1, ['part-1'], 1_000);
      const third = stage.driver({ token: 'job', jobAttempt: 3 });
      await third.setup();
      await recoverOrRerun(third, zero, 0, 2_000);
      await recoverOrRerun(third, one, 1, 2_000);
      await third.commit();
    },
    check: mustBeCommitted(2),
  },
  {
    name: 'an abandoned decision of AM 1 is not a task of AM 3',
    about: 'AM 1 publishes, AM 2 rolls back, AM 3 asks for AM 1’s task: nothing is there to recover',
    async run(stage) {
      const first = await decided(stage);
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      await second.setup();
      await second.abort();
      if (second.told === 'committed') return;
      const third = stage.driver({ token: 'job', jobAttempt: 3 });
      if ((await third.trySetup()) !== undefined) return;
      for (const [task, done] of first.committedAttempts.entries())
        await recoverOrRerun(third, done, task, 2_000);
      await third.commit();
    },
  },
  ...(['commitTask', 'abortTask'] as const).map((call): Scenario => ({
    name: `recoverTask beside ${call}`,
    about: 'of the superseded attempt, on another daemon',
    isRace: true,
    leavesToGc: 'uploads',
    async run(stage) {
      stage.daemons(2);
      const first = stage.driver({ token: 'job', jobAttempt: 1 });
      await first.setup();
      const zero = await first.runTask(0, ['part-0']);
      const one = first.attempt(1, 0, 1);
      await one.write('part-1');
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      await second.setup();
      const zombie = async (): Promise<unknown> => (call === 'commitTask' ? one.commit() : zero.abort());
      // The framework recovers what it knows to have succeeded.
      const recovery = async (): Promise<void> => {
        await recoverOrRerun(second, zero, 0, 1_000);
        await second.runTask(1, ['part-1'], 1_000);
      };
      await Promise.all([zombie(), recovery()]);
      await second.commit();
    },
    check({ checks, drivers: [, second], world }) {
      if (second?.told !== 'committed' && world.injector.triggered.length === 0)
        checks.violate(`AM 2 was told ${second?.told ?? 'nothing'}: ${second?.failure?.message ?? ''}`);
    },
  })),
  {
    name: 'AM 2 aborts what was before, then sets up',
    about: 'abortJob(EARLIER_ATTEMPTS) before setupJob, with tasks of AM 1 under way on another daemon',
    isRace: true,
    async run(stage) {
      stage.daemons(2);
      const first = stage.driver({ token: 'job', jobAttempt: 1, daemon: 1 });
      await first.setup();
      await first.runTask(0, ['part-0']);
      const zombie = first.attempt(1);
      await zombie.write('part-1');
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      const restart = async (): Promise<void> => {
        await second.abort('earlier');
        await second.setup();
        for (const task of [0, 1]) await second.runTask(task, [`part-${task}`], 1_000);
        await second.commit();
      };
      await Promise.all([restart(), zombie.commit()]);
    },
    check: mustBeCommitted(1),
  },
];
