import type { Scenario } from '../stage.js';

/** Several daemons at once; the seed chooses the interleaving. */
export const raceScenarios: readonly Scenario[] = [
  {
    name: 'speculation with a zombie',
    isRace: true,
    about: 'the slow attempt commits while the job is published on another daemon',
    async run(stage) {
      stage.world.start();
      stage.world.start();
      const job = stage.driver({ token: 'job' });
      await job.setup();
      const slow = job.attempt(0, 0, 1);
      await slow.write('part-0-slow');
      await job.runTask(0, ['part-0-fast'], 1);
      const zombie = async (): Promise<void> => {
        if (!(await slow.commit())) await slow.abort();
      };
      await Promise.all([job.commit(), zombie()]);
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'zombie after the end',
    about: 'a task opens, writes and commits after the job was committed; another after it was aborted',
    leavesToGc: 'records',
    async run(stage) {
      stage.world.start();
      stage.world.start();
      for (const [index, end] of (['commit', 'abort'] as const).entries()) {
        const job = stage.driver({ token: `job-${end}`, destination: `out-${end}` });
        await job.setup();
        await job.runTask(0, ['part-0']);
        const zombie = job.attempt(1, 0, 1);
        await zombie.write(`part-1-${index}`);
        await job[end]();
        if (await zombie.commit()) stage.checks.violate('a zombie committed after the end');
        await zombie.abort();
      }
    },
  },
  {
    name: 'abortTask beside commitJob',
    isRace: true,
    about: 'a committed attempt is aborted, by its writer or blindly, while the job is committed',
    async run(stage) {
      stage.world.start();
      stage.world.start();
      const job = stage.driver({ token: 'job' });
      await job.setup();
      const loser = await job.runTask(0, ['part-0-a'], 0);
      await job.runTask(0, ['part-0-b'], 1);
      const other = await job.runTask(1, ['part-1-a'], 0);
      await job.runTask(1, ['part-1-b'], 1);
      await Promise.all([job.commit(), loser.abort(), other.abort(true)]);
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'abortJob right after the decision',
    about: 'a rollback beside the publication that another daemon has just begun: all or none',
    isRace: true,
    isSmall: true,
    async run(stage) {
      stage.world.start();
      stage.world.start();
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await job.runTask(1, ['part-1']);
      const abort = async (): Promise<void> => {
        await stage.untilWritten('/decision.json');
        await stage.moments(40);
        await job.abort('this-and-earlier', 1);
      };
      await Promise.all([job.commit(), abort()]);
    },
  },
  {
    name: 'abortTask of a winner beside commitJob',
    about:
      'the only attempts of their tasks are aborted, by their writer and blindly: listed and published, or not at all',
    isRace: true,
    isSmall: true,
    leavesToGc: 'records',
    async run(stage) {
      stage.world.start();
      stage.world.start();
      const job = stage.driver({ token: 'job' });
      await job.setup();
      const first = await job.runTask(0, ['part-0']);
      const second = await job.runTask(1, ['part-1']);
      const abort = async (): Promise<void> => {
        await stage.moments(60);
        await Promise.all([first.abort(), second.abort(true)]);
      };
      await Promise.all([job.commit(), abort()]);
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'a zombie of an aborted attempt',
    about:
      'abortTask comes from another process while the attempt commits, or before: its record says who was first',
    isRace: true,
    leavesToGc: 'records',
    async run(stage) {
      stage.world.start();
      stage.world.start();
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.runTask(0, ['part-0']);
      const dead = job.attempt(1);
      await dead.write('part-1');
      await dead.abort();
      if (await dead.commit()) stage.checks.violate('an attempt was committed after it was aborted');
      const zombie = job.attempt(2, 0, 1);
      await zombie.write('part-2');
      await Promise.all([zombie.commit(), zombie.abort(true)]);
      await zombie.commit();
      await job.commit();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'abort overlapping commit',
    isRace: true,
    about: 'commitJob and abortJob on two daemons: all or none',
    isSmall: true,
    async run(stage) {
      stage.world.start();
      stage.world.start();
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await job.runTask(1, ['part-1']);
      await Promise.all([job.commit(), job.abort('this-and-earlier', 1)]);
    },
  },
  {
    name: 'commitJob on two daemons',
    isRace: true,
    about: 'the client repeated the call at another daemon while the first one still runs',
    isSmall: true,
    async run(stage) {
      stage.world.start();
      stage.world.start();
      const job = stage.driver({ token: 'job' });
      const twin = stage.driver({ token: 'job', daemon: 1 });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await job.runTask(1, ['part-1']);
      await Promise.all([job.commit(), twin.commit()]);
    },
    check({ checks, drivers }) {
      for (const { told, failure } of drivers)
        if (told !== 'committed') checks.violate(`told ${told ?? 'nothing'}: ${failure?.message ?? ''}`);
    },
  },
  {
    name: 'two plans',
    isRace: true,
    about:
      'commitJob on two daemons while another attempt commits, so that they decide for different winners',
    async run(stage) {
      stage.world.start();
      stage.world.start();
      stage.world.start();
      const job = stage.driver({ token: 'job' });
      const twin = stage.driver({ token: 'job', daemon: 1 });
      await job.setup();
      await job.runTask(0, ['part-0-a'], 0);
      const late = job.attempt(0, 1, 2);
      await late.write('part-0-b');
      const commitLate = async (): Promise<void> => {
        if (!(await late.commit())) await late.abort();
      };
      await Promise.all([job.commit(), commitLate(), twin.commit()]);
    },
  },
  {
    name: 'two jobs on one destination',
    about: 'one is committed while the other writes, then the other; or it is aborted',
    async run(stage) {
      const first = stage.driver({ token: 'job-a' });
      const second = stage.driver({ token: 'job-b' });
      await first.setup();
      await second.setup();
      await first.runTask(0, ['part-0-a']);
      const writing = second.attempt(0);
      await writing.write('part-0-b');
      await first.commit();
      await writing.commit();
      const third = stage.driver({ token: 'job-c' });
      await third.setup();
      await third.runTask(0, ['part-0-c']);
      await third.abort();
      await second.commit();
    },
    check({ checks, drivers: [first, second] }) {
      if (first?.told !== 'committed' || second?.told !== 'committed')
        checks.violate('one of the jobs was not committed');
    },
  },
  {
    name: 'two appends, one marker',
    about: 'both are set up before either is committed: the last committer’s marker stays',
    async run(stage) {
      const first = stage.driver({ token: 'job-a' });
      const second = stage.driver({ token: 'job-b' });
      await first.setup();
      await second.setup();
      await first.runTask(0, ['part-0-a']);
      await second.runTask(0, ['part-0-b']);
      await first.commit();
      await second.commit();
    },
    check({ checks, drivers }) {
      for (const { told } of drivers) if (told !== 'committed') checks.violate(`told ${told ?? 'nothing'}`);
      const marked = checks.markerAt('out');
      if (marked !== 'job-b') checks.violate(`the marker is of ${marked ?? 'nobody'}`);
    },
  },
  {
    name: 'two commits at once on one destination',
    isRace: true,
    about: 'appends of different keys, both with a marker',
    async run(stage) {
      stage.world.start();
      stage.world.start();
      const first = stage.driver({ token: 'job-a' });
      const second = stage.driver({ token: 'job-b', daemon: 1 });
      await Promise.all([first.setup(), second.setup()]);
      await Promise.all([first.runTask(0, ['part-0-a']), second.runTask(0, ['part-0-b'])]);
      await Promise.all([first.commit(), second.commit()]);
    },
    check({ checks, drivers }) {
      for (const { told } of drivers) if (told !== 'committed') checks.violate(`told ${told ?? 'nothing'}`);
    },
  },
  ...(['append', 'fail'] as const).map((conflictMode): Scenario => ({
    name: `a foreign writer right after the plan${conflictMode === 'fail' ? ', fail' : ''}`,
    about:
      'an object appears at a key that was free when the plan was made: the job is rolled back, the object stays',
    isRace: true,
    isSmall: true,
    async run(stage) {
      const job = stage.driver({ token: 'job', options: { conflictMode } });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await job.runTask(1, ['part-1']);
      const intruder = async (): Promise<void> => {
        await stage.untilWritten('/plan-');
        await stage.moments(30);
        await stage.checks.addForeignObjectIfFree('out/part-1');
      };
      await Promise.all([job.commit(), intruder()]);
      if (job.told !== 'committed') await job.abort();
    },
  })),
  {
    name: 'a foreign writer during publication',
    isRace: true,
    about: 'an object appears at a key of the job: the job is rolled back, the object stays',
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await job.runTask(1, ['part-1']);
      const intruder = async (): Promise<void> => {
        for (let turns = stage.world.random.below(200); turns > 0; turns--) await stage.world.turn();
        await stage.world.raw
          .put({ bucket: 'data', key: 'out/part-1' }, Buffer.from('foreign'), { ifNoneMatch: '*' })
          .catch(() => undefined);
      };
      await Promise.all([job.commit(), intruder()]);
      if (job.told !== 'committed') await job.abort();
    },
  },
  {
    name: 'gc beside a running job',
    isRace: true,
    about: 'gc with the age forced to 0: the job fails cleanly or is committed whole',
    async run(stage) {
      stage.world.start();
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.runTask(0, ['part-0']);
      const work = async (): Promise<void> => {
        const attempt = job.attempt(1);
        if (await attempt.write('part-1')) await attempt.commit();
        await job.commit();
      };
      await Promise.all([work(), stage.collect()]);
      await job.abort();
    },
  },
  {
    name: 'ledger',
    about: 'uploads open for seconds; their daemon and their task die, the job is aborted',
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.attempt(0).write('part-0');
      await stage.world.pass(1_200);
      await job.attempt(1).write('part-1');
      await stage.world.pass(1_200);
      await job.abort();
    },
  },
];
