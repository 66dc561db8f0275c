import type { Scenario } from '../stage.js';
import { inlineTask, mustBeCommitted, options } from './carried-support.js';

/** `TASK_RECORDS_DRIVER`, on several daemons at once. */
export const carriedRaceScenarios: readonly Scenario[] = [
  {
    name: 'carried, abortTask of a winner beside commitJob',
    about:
      'attempts are aborted, by their writer and blindly, while they are handed over: published, or the commit is refused',
    isRace: true,
    isSmall: true,
    leavesToGc: 'records',
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      const first = await job.runTask(0, ['part-0']);
      const second = job.attempt(1, 0, 1);
      await second.write('part-1');
      await second.commit();
      const abort = async (): Promise<void> => {
        await stage.moments(60);
        await Promise.all([first.abort(), second.abort(stage.world.random.below(2) === 0)]);
      };
      await Promise.all([job.commit([first, second]), abort()]);
      if (job.told !== 'committed') await job.abort();
    },
    check({ checks, drivers: [job] }) {
      const isRefused = job?.failure?.reason === 'WINNER_NOT_COMMITTED';
      if (job?.told !== 'committed' && !isRefused)
        checks.violate(
          `the commit answered ${job?.failure?.reason ?? 'nothing'}: ${job?.failure?.message ?? ''}`,
        );
    },
  },
  {
    name: 'carried, abort overlapping commit',
    about: 'commitJob and abortJob on two daemons: all or none',
    isRace: true,
    isSmall: true,
    leavesToGc: 'records',
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await job.runTask(1, ['part-1']);
      await Promise.all([job.commit(), job.abort('this-and-earlier', 1)]);
    },
  },
  {
    name: 'carried, abortJob right after the decision',
    about: 'a rollback beside the publication that another daemon has just begun: all or none',
    isRace: true,
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await inlineTask(job, 1, ['part-1']);
      const abort = async (): Promise<void> => {
        await stage.untilWritten('/decision.json');
        await stage.moments(60);
        await job.abort('this-and-earlier', 1);
      };
      await Promise.all([job.commit(), abort()]);
    },
  },
  {
    name: 'carried, another daemon finishes',
    about:
      'the operator finishes, from claims alone, what a daemon decided; the driver’s call runs beside it',
    isRace: true,
    isSmall: true,
    leavesToGc: 'records',
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await inlineTask(job, 1, ['part-1']);
      const operator = async (): Promise<void> => {
        await stage.untilWritten('/decision.json');
        await stage.operate('job', 'commit');
      };
      await Promise.all([job.commit(), operator()]);
    },
    check: mustBeCommitted,
  },
  {
    name: 'carried, commitJob on two daemons',
    about: 'the client repeated the call at another daemon while the first one still runs',
    isRace: true,
    isSmall: true,
    leavesToGc: 'records',
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job', options });
      const twin = stage.driver({ token: 'job', options, daemon: 1 });
      await job.setup();
      const attempts = [await job.runTask(0, ['part-0']), await job.runTask(1, ['part-1'])];
      await Promise.all([job.commit(attempts), twin.commit(attempts)]);
    },
    check({ checks, drivers }) {
      for (const { told, failure } of drivers)
        if (told !== 'committed') checks.violate(`told ${told ?? 'nothing'}: ${failure?.message ?? ''}`);
    },
  },
  {
    name: 'carried, other pendingsets',
    about: 'two calls at once hand over different attempts: one is committed, the other one is told so',
    isRace: true,
    isSmall: true,
    leavesToGc: 'records',
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job', options });
      const twin = stage.driver({ token: 'job', options, daemon: 1 });
      await job.setup();
      const common = await job.runTask(1, ['part-1']);
      const first = await job.runTask(0, ['part-0-a'], 0);
      const second = await job.runTask(0, ['part-0-b'], 1);
      await Promise.all([job.commit([first, common]), twin.commit([common, second])]);
    },
    check({ checks, drivers: [job, twin] }) {
      const told = [job?.told, twin?.told].filter((each) => each === 'committed').length;
      if (told !== 1) checks.violate(`${told} calls were told that their attempts are committed`);
      const other = job?.told === 'committed' ? twin : job;
      if (other?.failure?.reason !== 'JOB_COMMITTED')
        checks.violate(`the other one was told ${other?.failure?.reason ?? 'nothing'}`);
      const names = checks.published().map(({ name }) => name);
      const expected = job?.told === 'committed' ? 'part-0-a,part-1' : 'part-0-b,part-1';
      if (names.sort().join() !== expected) checks.violate(`published: ${names.join()}`);
    },
  },
  {
    name: 'carried, adopted',
    about: 'a job is decided, then a second master takes the decision over and finishes it from the claims',
    isRace: true,
    leavesToGc: 'records',
    async run(stage) {
      stage.daemons(2);
      const first = stage.driver({ token: 'job', options });
      await first.setup();
      await first.runTask(0, ['part-0']);
      await inlineTask(first, 1, ['part-1']);
      const second = stage.driver({ token: 'job', jobAttempt: 1, daemon: 1 });
      const restart = async (): Promise<void> => {
        await stage.untilWritten('/decision.json');
        await second.setup();
        await second.commit();
      };
      await Promise.all([first.commit(), restart()]);
    },
    check({ checks, drivers: [, second] }) {
      if (second?.told !== 'committed')
        checks.violate(`the second master was told ${second?.told ?? 'nothing'}`);
    },
  },
];
