import type { Scenario } from '../stage.js';

/** AbortJob and SetupJob in any order, drivers that share a token, jobs that share a destination. */
export const setupScenarios: readonly Scenario[] = [
  {
    name: 'abortJob before setupJob',
    about: 'the AM is told to go before it set up: a late SetupJob is refused',
    isSmall: true,
    async run(stage) {
      const job = stage.driver({ token: 'job', jobAttempt: 1 });
      await job.abort();
      if ((await job.trySetup()) === undefined) stage.checks.violate('a job was set up after it was aborted');
    },
  },
  {
    name: 'abortJob beside setupJob',
    about: 'on two daemons; whatever comes out, the job can’t be committed',
    isRace: true,
    isSmall: true,
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job', jobAttempt: 1 });
      const [refusal] = await Promise.all([job.trySetup(), job.abort('this-and-earlier', 1)]);
      if (refusal !== undefined) return;
      const attempt = job.attempt(0);
      if ((await attempt.write('part-0')) && (await attempt.commit()))
        stage.checks.violate('a task of an aborted job was committed');
      await job.commit();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told === 'committed') checks.violate('an aborted job was committed');
    },
  },
  {
    name: 'late setupJob of a lower attempt',
    about: 'AM 1 was slow: AM 3 is set up first, or aborts without having been',
    isSmall: true,
    async run(stage) {
      for (const how of ['set-up', 'aborted'] as const) {
        const second = stage.driver({ token: how, jobAttempt: 3, destination: how });
        if (how === 'set-up') await second.setup();
        else await second.abort('earlier');
        const first = stage.driver({ token: how, jobAttempt: 1, destination: how });
        if ((await first.trySetup()) === undefined)
          stage.checks.violate('a lower job attempt was set up after a higher one');
        if (how !== 'set-up') continue;
        await second.runTask(0, ['part-0']);
        await second.commit();
      }
    },
    check({ checks, drivers: [second] }) {
      if (second?.told !== 'committed') checks.violate(`AM 3 was told ${second?.told ?? 'nothing'}`);
    },
  },
  {
    name: 'setupJob of two attempts at once',
    about: 'the lower one is superseded wherever it stands',
    isRace: true,
    async run(stage) {
      stage.daemons(2);
      const first = stage.driver({ token: 'job', jobAttempt: 1 });
      const second = stage.driver({ token: 'job', jobAttempt: 2, daemon: 1 });
      await Promise.all([first.trySetup(), second.setup()]);
      await first.commit();
      await second.runTask(0, ['part-0'], 1_000);
      await second.commit();
    },
    check({ checks, drivers: [first, second] }) {
      if (second?.told !== 'committed' && first?.told !== 'committed')
        checks.violate(`AM 2 was told ${second?.told ?? 'nothing'}: ${second?.failure?.message ?? ''}`);
    },
  },
  {
    name: 'a second driver with the same token',
    about: 'refused before the first one’s end and after it; the first one goes on',
    async run(stage) {
      const first = stage.driver({ token: 'job' });
      await first.setup();
      await first.runTask(0, ['part-0']);
      const second = stage.driver({ token: 'job' });
      if ((await second.trySetup())?.reason !== 'JOB_EXISTS')
        stage.checks.violate('a second driver took over the token');
      await first.commit();
      if ((await second.trySetup()) === undefined)
        stage.checks.violate('a token was used again after its job’s end');
    },
    check({ checks, drivers: [first] }) {
      if (first?.told !== 'committed') checks.violate('the first driver was not committed');
    },
  },
  {
    name: 'two drivers at once with one token',
    about: 'exactly one is set up',
    isRace: true,
    async run(stage) {
      stage.daemons(2);
      const drivers = [0, 1].map((daemon) => stage.driver({ token: 'job', daemon }));
      const refusals = await Promise.all(drivers.map((driver) => driver.trySetup()));
      const [winner, ...more] = drivers.filter((_, index) => refusals[index] === undefined);
      if (winner === undefined || more.length > 0)
        stage.checks.violate(`${refusals.filter((each) => each === undefined).length} drivers were set up`);
      await winner?.runTask(0, ['part-0']);
      await winner?.commit();
    },
  },
  ...(['destination', 'partitions'] as const).map((conflictScope): Scenario => ({
    name: `fail mode on two daemons, ${conflictScope}`,
    about: 'what the other daemon has just published is no conflict',
    isRace: true,
    isSmall: true,
    async run(stage) {
      stage.daemons(2);
      const options = { conflictMode: 'fail', conflictScope } as const;
      const job = stage.driver({ token: 'job', options });
      const twin = stage.driver({ token: 'job', options, daemon: 1 });
      await job.setup();
      await job.runTask(0, ['p=1/part-0']);
      await Promise.all([job.commit(), twin.commit()]);
    },
    check({ checks, drivers }) {
      for (const { told, failure } of drivers)
        if (told !== 'committed') checks.violate(`told ${told ?? 'nothing'}: ${failure?.message ?? ''}`);
    },
  })),
  ...(['fail', 'append'] as const).map((conflictMode): Scenario => ({
    name: `${conflictMode} mode, a foreign writer who writes and deletes`,
    about: 'at a key of the job while two daemons publish: published whole, or undone',
    isRace: true,
    async run(stage) {
      stage.daemons(2);
      const options = { conflictMode };
      const job = stage.driver({ token: 'job', options });
      const twin = stage.driver({ token: 'job', options, daemon: 1 });
      await job.setup();
      await job.runTask(0, ['part-0', 'part-1']);
      const intruder = async (): Promise<void> => {
        await stage.moments(250);
        const key = { bucket: 'data', key: 'out/part-1' };
        const put = await stage.world.raw
          .put(key, Buffer.from('foreign'), { ifNoneMatch: '*' })
          .catch(() => undefined);
        if (put === undefined) return;
        await stage.moments(100);
        await stage.world.raw.delete(key, { ifMatch: put.etag }).catch(() => undefined);
      };
      await Promise.all([job.commit(), twin.commit(), intruder()]);
      if (job.told !== 'committed' && twin.told !== 'committed') await job.abort();
    },
  })),
  ...(['append', 'replace'] as const).map((conflictMode): Scenario => ({
    name: `two jobs with the same keys, one after the other, ${conflictMode}`,
    about: 'the second one overwrites the first',
    async run(stage) {
      for (const token of ['job-a', 'job-b']) {
        const job = stage.driver({ token, options: { conflictMode } });
        await job.setup();
        await job.runTask(0, ['part-0', 'part-1']);
        await job.commit();
      }
    },
    check({ checks, drivers }) {
      for (const { told } of drivers) if (told !== 'committed') checks.violate(`told ${told ?? 'nothing'}`);
      for (const { token } of checks.published())
        if (token !== 'job-b') checks.violate(`${token} is visible after job-b overwrote it`);
    },
  })),
  {
    name: 'two jobs with the same keys at once',
    about: 'the last Complete wins key by key, or one of them finds the other’s and is undone',
    isRace: true,
    async run(stage) {
      stage.daemons(2);
      const jobs = ['job-a', 'job-b'].map((token, daemon) => stage.driver({ token, daemon }));
      for (const job of jobs) {
        await job.setup();
        await job.runTask(0, ['part-0', 'part-1']);
      }
      await Promise.all(jobs.map((job) => job.commit()));
    },
    check({ checks, drivers }) {
      // Each may have found the other's object at one of its keys: then both are undone, and say so.
      const isAnyCommitted = drivers.some(({ told }) => told === 'committed');
      const keys = checks.published().map(({ key }) => key);
      const missing = ['out/part-0', 'out/part-1'].filter((key) => !keys.includes(key));
      // Undone by a job that put its own over the other's.
      const lost = missing.filter((key) => checks.wasCompletedOver(key));
      if (keys.length !== (isAnyCommitted ? 2 - lost.length : 0)) checks.violate(`visible: ${keys.join()}`);
    },
  },
  {
    name: 'two jobs, one of them aborted, beside each other',
    about: 'abortJob of one while the other is committed',
    isRace: true,
    async run(stage) {
      stage.daemons(2);
      const [first, second] = ['job-a', 'job-b'].map((token, daemon) => stage.driver({ token, daemon }));
      await Promise.all([first?.setup(), second?.setup()]);
      await first?.runTask(0, ['part-a']);
      await second?.runTask(0, ['part-b']);
      await Promise.all([first?.commit(), second?.abort()]);
    },
    check({ checks, drivers: [first] }) {
      if (first?.told !== 'committed') checks.violate('the other job was not committed');
    },
  },
  {
    name: 'commitTask beside commitJob',
    about: 'a task paused between its record and its look at the decision: OK if listed, else refused',
    isRace: true,
    isSmall: true,
    async run(stage) {
      stage.daemons(2);
      // It calls CommitJob before it has heard of the task: what is told OK between listing and decision isn't listed.
      const job = stage.driver({ token: 'job', isReckless: true });
      await job.setup();
      await job.runTask(0, ['part-0']);
      const late = job.attempt(1, 0, 1);
      await late.write('part-1');
      await Promise.all([job.commit(), late.commit()]);
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
];
