import type { Scenario, Stage } from '../stage.js';

/** What a job's end leaves, and calls that come when it is gone. */

/** Each call of a job once more, at a daemon that knew it and at one that never heard of it. */
async function replayAll(stage: Stage, token: string, isCollected: boolean): Promise<void> {
  const job = stage.drivers.find(({ options }) => options.token === token);
  if (job === undefined) return;
  const wasCommitted = job.told === 'committed';
  for (const daemon of [0, 1]) {
    const again = stage.driver({ ...job.options, daemon });
    for (const attempt of job.world.attempts.values()) {
      if (attempt.ofToken !== token) continue;
      const isWinner = job.committedAttempts.includes(attempt) && !job.givenUp.has(attempt.ref.attemptId);
      // Days later a daemon that remembers the job may say OK to a task: nobody will ever publish it.
      if ((await attempt.commit(daemon)) && !isCollected && !(wasCommitted && isWinner))
        stage.checks.violate(`${attempt.ref.attemptId} was committed after the end of its job`);
      if (!wasCommitted || !isWinner) await attempt.abort();
    }
    await again.commit();
    if (again.told === 'committed' && !wasCommitted)
      stage.checks.violate(`${token} was committed after its end`);
    await again.abort();
    // A forgotten token is free again: only its own driver's late SetupJob must not publish anything.
    if (!isCollected && (await again.trySetup()) === undefined)
      stage.checks.violate(`${token} was set up after its end`);
  }
}

async function twoJobs(stage: Stage): Promise<void> {
  stage.daemons(2);
  for (const end of ['commit', 'abort'] as const) {
    const job = stage.driver({ token: end, destination: `out-${end}` });
    await job.setup();
    const loser = job.attempt(0, 0);
    await loser.write('part-0-a');
    await loser.commit();
    await job.runTask(0, ['part-0-b'], 1);
    const aborted = job.attempt(1);
    await aborted.write('part-1');
    await aborted.abort();
    await job[end]();
  }
}

export const cleanupScenarios: readonly Scenario[] = [
  {
    name: 'replays after cleanup',
    about: 'every call of an ended job once more when its records are gone',
    leavesToGc: 'uploads',
    async run(stage) {
      await twoJobs(stage);
      await stage.world.pass(2_000);
      await replayAll(stage, 'commit', false);
      await replayAll(stage, 'abort', false);
    },
  },
  {
    name: 'replays after gc',
    about: 'every call of a job that gc has forgotten: nothing is resurrected, no output goes',
    leavesToGc: 'uploads',
    async run(stage) {
      await twoJobs(stage);
      await stage.expire();
      await replayAll(stage, 'commit', true);
      await replayAll(stage, 'abort', true);
    },
  },
  {
    name: 'replays beside gc',
    about: 'commitJob, abortJob and setupJob while gc forgets the job',
    isRace: true,
    leavesToGc: 'uploads',
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job' });
      await job.setup();
      const attempt = await job.runTask(0, ['part-0']);
      await job.commit();
      await stage.idle();
      stage.checks.rememberEnded();
      stage.world.jump(15 * 86_400_000);
      const late = async (): Promise<void> => {
        await stage.moments(200);
        const again = stage.driver({ token: 'job', daemon: 1 });
        await again.commit();
        await again.abort();
        await attempt.commit(1);
      };
      await Promise.all([stage.collect(), late(), stage.collect()]);
    },
  },
  {
    name: 'gc twice at once',
    about: 'two gc end, clean and forget the same jobs',
    isRace: true,
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.runTask(0, ['part-0']);
      const left = stage.driver({ token: 'left', destination: 'left' });
      await left.setup();
      await left.runTask(0, ['part-0']);
      await job.commit();
      await Promise.all([stage.collect(), stage.collect()]);
      stage.checks.final();
      stage.checks.rememberEnded();
      stage.world.jump(15 * 86_400_000);
      await Promise.all([stage.collect(), stage.collect()]);
    },
  },
  {
    name: 'a token used again after gc',
    about: 'the new job is nobody’s replay; the old output stays',
    leavesToGc: 'uploads',
    async run(stage) {
      const old = stage.driver({ token: 'job', destination: 'out' });
      await old.setup();
      await old.abort();
      await stage.expire();
      stage.checks.forget('job');
      stage.drivers.splice(stage.drivers.indexOf(old), 1);
      const fresh = stage.driver({ token: 'job', destination: 'out' });
      // What was refused to one gc is the next one's.
      if ((await fresh.trySetup()) !== undefined) {
        await stage.collect();
        await fresh.setup();
      }
      await fresh.runTask(0, ['part-0'], 7);
      await fresh.commit();
    },
    check({ checks, drivers: [fresh] }) {
      if (fresh?.told !== 'committed')
        checks.violate(`told ${fresh?.told ?? 'nothing'}: ${fresh?.failure?.message ?? ''}`);
    },
  },
  {
    name: 'opened and died',
    about: 'tasks open uploads and die with their daemon at once; the job is aborted',
    leavesToGc: 'uploads',
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.attempt(0, 0, 1).write('part-0');
      await stage.world.pass(300);
      await job.attempt(1, 0, 1).write('part-1');
      stage.world.daemon(1).die();
      await stage.world.pass(2_000);
      await job.abort();
    },
  },
  {
    name: 'exclusive listing',
    about: 'abortJob lists the uploads under the destination, also those that no ledger saw',
    isExclusive: true,
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.attempt(0, 0, 1).write('part-0');
      stage.world.daemon(1).die();
      await job.abort();
    },
    check({ checks, world }) {
      if (checks.openUploads().length > 0 && world.injector.triggered.length === 0)
        checks.violate('an upload is left open');
    },
  },
];
