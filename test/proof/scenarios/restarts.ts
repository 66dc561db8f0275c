import { DriverDied, type Driver } from '../driver.js';
import type { Scenario, Stage } from '../stage.js';

/**
 * A framework that restarts its application master. Each attempt is a driver of its own; `crash` says how far the
 * first one came.
 */
type Crash = 'before any commit' | 'after half' | 'after all tasks' | 'in publication' | 'after publication';
const crashes: readonly Crash[] = [
  'before any commit',
  'after half',
  'after all tasks',
  'in publication',
  'after publication',
];

async function firstMaster(stage: Stage, crash: Crash): Promise<Driver> {
  const first = stage.driver({ token: 'job', jobAttempt: 1 });
  await first.setup();
  if (crash === 'before any commit') {
    await first.attempt(0).write('part-0');
    return first;
  }
  await first.runTask(0, ['part-0']);
  if (crash === 'after half') return first;
  await first.runTask(1, ['part-1']);
  if (crash === 'after all tasks') return first;
  if (crash === 'in publication') {
    // The master is gone while its daemon still publishes: nobody waits for the answer.
    void first.commit().catch(() => undefined);
    for (let turns = 0; turns < 60; turns++) await stage.world.turn();
    return first;
  }
  await first.commit();
  return first;
}

/** Recovers what the framework knows to have succeeded, reruns the rest under numbers of its own, commits. */
async function secondMaster(
  stage: Stage,
  first: Driver,
  jobAttempt: number,
  recovers: boolean,
): Promise<Driver> {
  const next = stage.driver({ token: 'job', jobAttempt });
  if (!recovers) await next.abort('earlier');
  await next.setup();
  for (const task of [0, 1]) {
    const done = recovers
      ? first.committedAttempts.find((attempt) => attempt.task.endsWith(String(task)))
      : undefined;
    let isRecovered = false;
    if (done !== undefined) {
      isRecovered = await next.recover(done).then(
        () => true,
        (error: unknown) => {
          if (error instanceof DriverDied) throw error;
          return false;
        },
      );
      if (isRecovered) next.committedAttempts.push(done);
    }
    if (!isRecovered) {
      const rerun = next.attempt(task, (jobAttempt - 1) * 1_000);
      if (await rerun.write(`part-${task}`)) await rerun.commit();
    }
  }
  await next.commit();
  return next;
}

export const restartScenarios: readonly Scenario[] = [
  ...crashes.flatMap((crash) =>
    [true, false].map((recovers): Scenario => ({
      name: `restart ${recovers ? 'with' : 'without'} recovery, ${crash}`,
      about: 'AM 1 dies, AM 2 goes on',
      async run(stage) {
        const first = await firstMaster(stage, crash);
        await secondMaster(stage, first, 2, recovers);
      },
      check({ checks, drivers }) {
        const second = drivers[1];
        const isOver = !recovers && (crash === 'in publication' || crash === 'after publication');
        // Without recovery AM 2 first aborts what was before: a commit that was decided may be finished or undone.
        if (second?.told !== 'committed' && !isOver)
          checks.violate(`AM 2 was told ${second?.told ?? 'nothing'}: ${second?.failure?.message ?? ''}`);
      },
    })),
  ),
  {
    name: 'the hook of a successful AM',
    about: "abortJob(KILLED) after commitJob, as MapReduce's shutdown hook calls it",
    isSmall: true,
    async run(stage) {
      const first = await firstMaster(stage, 'after publication');
      const published = await first.abort();
      if (published === false) stage.checks.violate('abortJob undid a published job');
    },
  },
  {
    name: 'the hook during commitJob',
    isRace: true,
    about: 'abortJob on another daemon while commitJob runs, then AM 2 with recovery',
    async run(stage) {
      stage.world.start();
      stage.world.start();
      const first = stage.driver({ token: 'job', jobAttempt: 1 });
      await first.setup();
      await first.runTask(0, ['part-0']);
      await first.runTask(1, ['part-1']);
      await Promise.all([first.commit(), first.abort('this-and-earlier', 1)]);
      if (first.told === 'committed') return;
      const next = stage.driver({ token: 'job', jobAttempt: 2 });
      await next.setup();
      for (const task of [0, 1]) await next.runTask(task, [`part-${task}`], 1_000);
      await next.commit();
    },
  },
  {
    name: 'three masters',
    about: 'AM 1 wakes up after AM 3 has started; its calls change nothing',
    async run(stage) {
      const first = await firstMaster(stage, 'after half');
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      await second.setup();
      const third = stage.driver({ token: 'job', jobAttempt: 3 });
      await third.setup();
      const zombie = first.attempt(1, 1);
      if ((await zombie.write('part-1')) && (await zombie.commit()))
        stage.checks.violate('a fenced AM committed a task');
      await first.commit();
      await first.abort();
      await third.runTask(0, ['part-0'], 2_000);
      await third.runTask(1, ['part-1'], 2_000);
      await third.commit();
    },
    check({ checks, drivers }) {
      const third = drivers[2];
      if (third?.told !== 'committed') checks.violate(`AM 3 was told ${third?.told ?? 'nothing'}`);
    },
  },
  {
    name: 'adoption by two masters',
    about: 'AM 1 decides and dies, AM 2 adopts and dies, AM 3 adopts the same decision',
    async run(stage) {
      await firstMaster(stage, 'in publication');
      const second = stage.driver({ token: 'job', jobAttempt: 2 });
      await second.setup();
      // AM 3 reads the history of AM 2 only, which holds nothing yet.
      await secondMaster(stage, second, 3, true);
    },
    check({ checks, drivers }) {
      const third = drivers[2];
      if (third?.told !== 'committed')
        checks.violate(`AM 3 was told ${third?.told ?? 'nothing'}: ${third?.failure?.message ?? ''}`);
    },
  },
];
