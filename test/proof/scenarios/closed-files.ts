import { isCommitterError } from '../../../src/core/errors.js';
import type { TaskAttempt } from '../driver.js';
import type { Scenario } from '../stage.js';

const options = { taskRecords: 'store' } as const;

/** The last CloseFile of an attempt once more, as a call that was slow on its way; what it is told doesn't matter. */
async function closeAgain(attempt: TaskAttempt, daemon: number): Promise<void> {
  try {
    if (attempt.lastClosed !== undefined) await attempt.close(attempt.lastClosed, daemon);
  } catch (error) {
    if (!isCommitterError(error) || error.reason === 'INTERNAL') throw error;
  }
}

/** `TASK_RECORDS_STORE`: files are closed by other processes than the one that commits. */
export const closedFileScenarios: readonly Scenario[] = [
  {
    name: 'closed files in the store',
    about: 'two tasks of two files, closed one by one; commitTask names none of them',
    isSmall: true,
    async run(stage) {
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      await job.runTask(0, ['part-0-a', 'part-0-b']);
      await job.runTask(1, ['part-1']);
      await job.commit();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
      if (checks.published().length !== 3) checks.violate(`published: ${checks.published().length}`);
    },
  },
  {
    name: 'closed files of losers',
    about:
      'a later attempt, one that was aborted blindly, one that closed a file and died; then the job commits',
    isSmall: true,
    async run(stage) {
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      await job.runTask(0, ['part-0-a'], 0);
      await job.runTask(0, ['part-0-b'], 1);
      const aborted = job.attempt(1, 0);
      await aborted.write('part-1-a');
      await aborted.abort(true);
      await job.attempt(1, 1).write('part-1-b');
      await job.runTask(1, ['part-1-c'], 2);
      await job.commit();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
      const names = checks.published().map(({ name }) => name);
      if (names.sort().join() !== 'part-0-b,part-1-c') checks.violate(`published: ${names.join()}`);
    },
  },
  {
    name: 'closed files of an aborted job',
    about: 'a committed attempt and one that only closed its file, then abortJob',
    async run(stage) {
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await job.attempt(1).write('part-1');
      await job.abort();
    },
  },
  {
    name: 'closeFile beside commitTask and commitJob',
    about: 'a repeated CloseFile, slow on its way, runs while the attempt and the job are committed',
    isRace: true,
    isSmall: true,
    leavesToGc: 'records',
    async run(stage) {
      stage.world.start();
      stage.world.start();
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      const attempt = job.attempt(0);
      await attempt.write('part-0');
      const finish = async (): Promise<void> => {
        await attempt.commit();
        await job.commit();
      };
      await Promise.all([closeAgain(attempt, 1), finish()]);
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'closeFile beside abortTask',
    about: 'an attempt is aborted blindly while it closes a file once more; its rerun is published',
    isRace: true,
    isSmall: true,
    leavesToGc: 'records',
    async run(stage) {
      stage.world.start();
      stage.world.start();
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      const slow = job.attempt(0, 0);
      await slow.write('part-0-a');
      await Promise.all([closeAgain(slow, 1), slow.abort(true)]);
      await job.runTask(0, ['part-0-b'], 1);
      await job.commit();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'committed') checks.violate('the job was not committed');
    },
  },
  {
    name: 'closed files, restart with recovery',
    about:
      'a second master recovers a task whose files were closed one by one and reruns one that was not committed',
    async run(stage) {
      const first = stage.driver({ token: 'job', options });
      await first.setup();
      const done = await first.runTask(0, ['part-0']);
      await first.attempt(1).write('part-1-a');
      const second = stage.driver({ token: 'job', jobAttempt: 1, options });
      await second.setup();
      await second.recover(done);
      await second.runTask(1, ['part-1-b'], 1_000);
      await second.commit();
    },
  },
];
