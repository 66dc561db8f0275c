import type { Scenario, Stage } from '../stage.js';

/** Files whose bytes travel in commitTask and are put at the commit. */
async function inlineTask(
  stage: Stage,
  job: ReturnType<Stage['driver']>,
  task: number,
  names: readonly string[],
  number = 0,
): Promise<void> {
  const attempt = job.attempt(task, number);
  for (const name of names) attempt.writeInline(name);
  await attempt.commit();
}

export const inlineScenarios: readonly Scenario[] = [
  {
    name: 'inline',
    about: 'two inline files and an upload',
    isSmall: true,
    async prepare({ checks }) {
      await checks.addForeignObject('out/old');
    },
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await inlineTask(stage, job, 0, ['part-0-a', 'part-0-b']);
      await job.runTask(1, ['part-1']);
      await job.commit();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'inline, two attempts',
    about: 'the later one wins',
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await inlineTask(stage, job, 0, ['part-0-a'], 0);
      await inlineTask(stage, job, 0, ['part-0-b'], 1);
      await job.commit();
    },
    check({ checks }) {
      const names = checks.published().map(({ name }) => name);
      if (names.join() !== 'part-0-b') checks.violate(`published: ${names.join()}`);
    },
  },
  {
    name: 'inline, overwrite',
    about: 'an inline file replaces an object, another does not',
    async prepare({ checks }) {
      await checks.addForeignObject('out/part-0', true);
    },
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await inlineTask(stage, job, 0, ['part-0', 'part-1']);
      await job.commit();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'inline, abortJob right after the decision',
    about: 'a rollback beside the puts that another daemon has just begun: all or none',
    isRace: true,
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await inlineTask(stage, job, 0, ['part-0', 'part-1']);
      const abort = async (): Promise<void> => {
        await stage.untilWritten('/decision.json');
        await stage.moments(60);
        await job.abort('this-and-earlier', 1);
      };
      await Promise.all([job.commit(), abort()]);
    },
  },
  {
    name: 'inline, abort overlapping commit',
    about: 'a paused publisher never puts a file after the rollback: all or none',
    isSmall: true,
    async run(stage) {
      stage.world.start();
      stage.world.start();
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await inlineTask(stage, job, 0, ['part-0', 'part-1']);
      await Promise.all([job.commit(), job.abort('this-and-earlier', 1)]);
    },
  },
  {
    name: 'inline, replace',
    about: 'old objects go after the inline ones are there',
    async prepare({ checks }) {
      await checks.addForeignObject('out/p=1/old', true);
    },
    async run(stage) {
      const job = stage.driver({
        token: 'job',
        options: { conflictMode: 'replace', conflictScope: 'partitions' },
      });
      await job.setup();
      await inlineTask(stage, job, 0, ['p=1/new']);
      await job.commit();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'inline, a foreign writer',
    about: 'an object appears at an inline key: the job is rolled back, the object stays',
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await inlineTask(stage, job, 0, ['part-0', 'part-1']);
      const intruder = async (): Promise<void> => {
        for (let turns = stage.world.random.below(150); turns > 0; turns--) await stage.world.turn();
        const object = { bucket: 'data', key: 'out/part-1' };
        await stage.world.raw
          .put(object, Buffer.from('foreign'), { ifNoneMatch: '*' })
          .catch(() => undefined);
      };
      await Promise.all([job.commit(), intruder()]);
    },
  },
];
