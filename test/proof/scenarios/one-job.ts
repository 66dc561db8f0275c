import type { Scenario } from '../stage.js';

/** What one job does by itself. */
export const oneJobScenarios: readonly Scenario[] = [
  {
    name: 'one job',
    about: 'two tasks, a file each',
    isSmall: true,
    async prepare({ checks }) {
      await checks.addForeignObject('out/old');
      await checks.addForeignObject('out/_SUCCESS', true);
      await checks.addForeignUpload('out/part-0');
    },
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await job.runTask(1, ['part-1']);
      await job.commit();
    },
    check(stage) {
      if (stage.drivers[0]?.told !== 'committed') stage.checks.violate('the job was not committed');
    },
  },
  {
    name: 'several files an attempt',
    about: 'five files in two tasks, listings in pages of two',
    pageSize: 2,
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.runTask(0, ['p=1/a', 'p=2/a', 'p=3/a']);
      await job.runTask(1, ['p=1/b', 'p=2/b']);
      await job.runTask(2, []);
      await job.commit();
    },
  },
  {
    name: 'two attempts of a task',
    about: 'both commit; the later one wins',
    isSmall: true,
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.runTask(0, ['part-0-a'], 0);
      await job.runTask(0, ['part-0-b'], 1);
      await job.commit();
    },
    check({ checks }) {
      const names = checks.published().map(({ name }) => name);
      if (names.join() !== 'part-0-b') checks.violate(`published: ${names.join()}`);
    },
  },
  {
    name: 'every call twice',
    about: 'each reply is lost once after the effect of the whole call',
    async run(stage) {
      const job = stage.driver({ token: 'job', repeats: true });
      await job.setup();
      const loser = job.attempt(0, 0);
      await loser.write('part-0-a');
      await loser.abort();
      await job.runTask(0, ['part-0-b'], 1);
      await job.commit();
      await job.abort();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'job aborted',
    about: 'a committed, an aborted and an unfinished attempt, then abortJob',
    isSmall: true,
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.runTask(0, ['part-0']);
      const aborted = job.attempt(1);
      await aborted.write('part-1');
      await aborted.abort();
      await job.attempt(2).write('part-2');
      await stage.world.pass(1_500);
      await job.abort();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'aborted') checks.violate('the job was not aborted');
    },
  },
  {
    name: 'abort of a committed attempt',
    about: 'commitTask, then abortTask by the writer or by a process that knows the ids only, then a rerun',
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      const first = await job.runTask(0, ['part-0-a'], 0);
      await first.abort();
      const other = await job.runTask(1, ['part-1-a'], 0);
      await other.abort(true);
      await job.runTask(0, ['part-0-b'], 1);
      await job.runTask(1, ['part-1-b'], 1);
      await job.commit();
    },
    check({ checks }) {
      const names = checks
        .published()
        .map(({ name }) => name)
        .sort();
      if (names.join() !== 'part-0-b,part-1-b') checks.violate(`published: ${names.join()}`);
    },
  },
  {
    name: 'overwrite',
    about: 'one key of the job holds an object: rollback is refused, roll-forward finishes',
    isSmall: true,
    async prepare({ checks }) {
      await checks.addForeignObject('out/part-1', true);
    },
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await job.runTask(1, ['part-1']);
      await job.commit();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  ...(['destination', 'partitions', 'paths'] as const).map((scope): Scenario => ({
    name: `replace ${scope}`,
    about: 'old objects go after the new ones are there, others stay',
    async prepare({ checks }) {
      await checks.addForeignObject('out/p=1/old', true);
      await checks.addForeignObject('out/p=1/old-too', true);
      await checks.addForeignObject('out/p=2/old', scope === 'destination');
      await checks.addForeignObject('out/p=1/_hidden/x');
      await checks.addForeignObject('elsewhere/p=1/old');
    },
    async run(stage) {
      const conflictPaths = scope === 'paths' ? ['s3a://data/out/p=1'] : [];
      const job = stage.driver({
        token: 'job',
        options: { conflictMode: 'replace', conflictScope: scope, conflictPaths },
      });
      await job.setup();
      await job.runTask(0, ['p=1/new']);
      await job.commit();
    },
    check({ checks, world, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
      const left = [...world.raw.entries('data')].filter(([key]) => key.startsWith('out/p=1/old'));
      for (const [key] of left) checks.violate(`${key} was not replaced`);
    },
  })),
  {
    name: 'fail mode, empty',
    about: 'nothing is there: the job is published',
    async run(stage) {
      const job = stage.driver({ token: 'job', options: { conflictMode: 'fail' } });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await job.commit();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'fail mode, occupied',
    about: 'data is there: the job is refused and leaves nothing',
    isSmall: true,
    async prepare({ checks }) {
      await checks.addForeignObject('out/old');
    },
    async run(stage) {
      const job = stage.driver({ token: 'job', options: { conflictMode: 'fail' } });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await job.commit();
      await job.abort();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told === 'committed') checks.violate('the job was committed');
    },
  },
];
