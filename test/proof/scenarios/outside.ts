import type { Scenario, Stage } from '../stage.js';

/** Other software at the same store, and clients that lie. */

const data = 'data';

async function destroyed(stage: Stage): Promise<void> {
  const job = stage.driver({ token: 'job' });
  await job.setup();
  await job.runTask(0, ['part-0']);
  await job.runTask(1, ['part-1']);
  for (const upload of stage.checks.openUploads()) {
    if (upload.key === 'out/part-1') await stage.world.raw.abort({ bucket: data, ...upload });
  }
}

export const outsideScenarios: readonly Scenario[] = [
  {
    name: 'an upload destroyed from outside',
    about: 'commitJob says so, abortJob rolls back and leaves nothing',
    needsForce: true,
    async run(stage) {
      await destroyed(stage);
      const [job] = stage.drivers;
      await job?.commit();
      if (job?.failure?.reason !== 'FOREIGN_OBJECT' && stage.world.injector.triggered.length === 0)
        stage.checks.violate(`commitJob said ${job?.failure?.reason ?? 'OK'}`);
      await job?.abort();
    },
    check({ checks }) {
      for (const { key } of checks.published())
        checks.violate(`${key} is left of a job that was rolled back`);
    },
  },
  {
    name: 'an upload destroyed, with overwritten keys',
    about: 'neither finished nor undone, until --force ends it and names every key',
    needsForce: true,
    async prepare({ checks }) {
      await checks.addForeignObject('out/part-0', true);
    },
    async run(stage) {
      await destroyed(stage);
      const [job] = stage.drivers;
      await job?.commit();
      await job?.abort();
      const isClean = stage.world.injector.triggered.length === 0;
      if (isClean && job?.failure?.reason !== 'FOREIGN_OBJECT')
        stage.checks.violate('the loss was not reported');
      await stage.operate('job', 'force');
    },
    check({ checks }) {
      for (const { key } of checks.published())
        checks.violate(`${key} is left of a job that was ended by force`);
    },
  },
  {
    name: 'another object at our key',
    about: 'a published file is replaced by somebody else before a rollback: theirs stays',
    needsForce: true,
    isRace: true,
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job' });
      await job.setup();
      // So many that the publication has not ended when the rollback begins.
      await job.runTask(0, ['part-0', 'part-1', 'part-2', 'part-3', 'part-4', 'part-5']);
      const intruder = async (): Promise<void> => {
        await stage.untilWritten('out/part-0');
        await stage.moments(20);
        await stage.checks.addForeignObject('out/part-0');
        stage.checks.lostToOthers.add('out/part-0');
      };
      const abort = async (): Promise<void> => {
        await stage.untilWritten('/decision.json');
        await job.abort('this-and-earlier', 1);
      };
      await Promise.all([job.commit(), intruder(), abort()]);
    },
  },
  {
    name: 'another writer between HEAD and DELETE',
    about: 'an object that replace was to delete is written anew meanwhile: If-Match refuses',
    isRace: true,
    async prepare({ checks }) {
      await checks.addForeignObject('out/old', true);
      await checks.addForeignObject('out/old-too', true);
    },
    async run(stage) {
      const job = stage.driver({ token: 'job', options: { conflictMode: 'replace' } });
      await job.setup();
      await job.runTask(0, ['part-0']);
      const intruder = async (): Promise<void> => {
        // Once the plan is written, what is at the key is no longer what the plan saw.
        await stage.untilWritten('/plan-');
        stage.checks.givenAway.delete('out/old');
        await stage.checks.addForeignObject('out/old', false, 'written anew');
      };
      await Promise.all([job.commit(), intruder()]);
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'parts that land after the end',
    about: 'a part lands seconds after its upload was aborted with its job: the second look ends it',
    async run(stage) {
      for (const end of ['commit', 'abort'] as const) {
        const job = stage.driver({ token: end, destination: `out-${end}` });
        await job.setup();
        await job.runTask(0, ['part-0']);
        const writing = job.attempt(1).write('part-1', { landsAfterMs: 20_000 });
        writing.catch(() => undefined);
        await stage.world.pass(2_000);
        await job[end]();
        await writing;
      }
    },
  },
  {
    name: 'parts that land after abortTask',
    about: 'of a closed file, sent twice, of an attempt that is aborted: the end of the job looks again',
    async run(stage) {
      const job = stage.driver({ token: 'job' });
      await job.setup();
      await job.runTask(0, ['part-0']);
      const aborted = job.attempt(1);
      await aborted.write('part-1');
      const again = aborted.sendAgain({ landsAfterMs: 20_000 });
      await stage.world.pass(100);
      await aborted.abort();
      await job.commit();
      await again;
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'parts landing after an abort',
    about:
      'a slow part of an attempt that is aborted, of a job that is aborted, and of one that is committed',
    leavesToGc: 'uploads',
    async run(stage) {
      for (const end of ['commit', 'abort'] as const) {
        const job = stage.driver({ token: end, destination: `out-${end}` });
        await job.setup();
        await job.runTask(0, ['part-0']);
        const slow = job.attempt(1);
        const writing = slow.write('part-1', { slowMs: 3_000 });
        writing.catch(() => undefined);
        await stage.world.pass(2_000);
        await job[end]();
        await writing;
        if (await slow.commit()) stage.checks.violate('a task was committed after the end of its job');
        await slow.abort();
      }
    },
  },
  {
    name: 'forged handles',
    about: 'a client names another job’s upload, a stranger’s, and its own under another attempt',
    isSmall: true,
    async prepare({ checks }) {
      await checks.addForeignUpload('out/theirs');
    },
    async run(stage) {
      const victim = stage.driver({ token: 'victim' });
      await victim.setup();
      const own = await victim.runTask(0, ['part-0']);
      const thief = stage.driver({ token: 'thief' });
      await thief.setup();
      const forged = thief.attempt(0);
      await forged.write('part-1');
      const [mine] = forged.closed.splice(0);
      const [theirs] = own.closed;
      const stranger = stage.world.raw.uploads(data).find(({ key }) => key === 'out/theirs');
      if (mine === undefined || theirs === undefined || stranger === undefined) return;
      const { uploadId } = stranger;
      const pending = { ...mine.pending, uri: `s3a://${data}/out/theirs`, uploadId };
      for (const file of [theirs, { ...mine, pending }]) {
        forged.closed.splice(0, Infinity, file);
        if (await forged.commit()) stage.checks.violate('commitTask took a file that is not the attempt’s');
        await forged.abortFiles([file.pending]).catch((error: unknown) => {
          if (!(error instanceof Error) || !error.message.includes('was not made for')) throw error;
        });
      }
      await thief.abort();
      await victim.commit();
    },
    check({ checks, drivers: [victim] }) {
      if (victim?.told !== 'committed') checks.violate('the victim was not committed');
    },
  },
];
