import { openPendingset, sealPendingset } from '../../../src/core/handle.js';
import { isCommitterError } from '../../../src/core/errors.js';
import { decodeAttemptRecord, encodeAttemptRecord } from '../../../src/core/records/attempt-record.js';
import type { Scenario } from '../stage.js';
import { bucket } from '../world.js';
import { inlineTask, mustBeCommitted, mustHave, options } from './carried-support.js';

/** The first record's content under the other's seal; nobody but a daemon can make one. */
function altered(pendingset: Uint8Array, uploadId: string, key: string): Uint8Array {
  const signature = pendingset.subarray(0, 32);
  const record = decodeAttemptRecord(pendingset.subarray(32), 'altered');
  if (record.kind !== 'pendingset') throw new Error('no pendingset');
  const files = record.files.map((file) => ({ ...file, uploadId, key }));
  return Buffer.concat([signature, encodeAttemptRecord({ ...record, files })]);
}

/** `TASK_RECORDS_DRIVER`: commitTask writes nothing, commitJob brings the pendingsets. */
export const carriedScenarios: readonly Scenario[] = [
  {
    name: 'carried',
    about: 'two tasks of two files and one of none; the driver hands their pendingsets over',
    isSmall: true,
    async run(stage) {
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      await job.runTask(0, ['part-0-a', 'part-0-b']);
      await job.runTask(1, ['part-1']);
      await job.runTask(2, []);
      await job.commit();
    },
    check(stage) {
      mustBeCommitted(stage);
      mustHave(stage, 'part-0-a,part-0-b,part-1');
    },
  },
  {
    name: 'carried, two attempts of a task',
    about: 'both commit; the driver hands the later one over, and the other one’s uploads go',
    isSmall: true,
    async run(stage) {
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      await job.runTask(0, ['part-0-a'], 0);
      await job.runTask(0, ['part-0-b'], 1);
      await job.commit();
    },
    check(stage) {
      mustBeCommitted(stage);
      mustHave(stage, 'part-0-b');
    },
  },
  {
    name: 'carried, every call twice',
    about: 'each reply is lost once after the effect of the whole call; commitTask returns the same bytes',
    async run(stage) {
      const job = stage.driver({ token: 'job', options, repeats: true });
      await job.setup();
      const loser = job.attempt(0, 0);
      await loser.write('part-0-a');
      await loser.abort();
      const winner = await job.runTask(0, ['part-0-b'], 1);
      const { pendingset } = winner;
      await winner.commit();
      if (Buffer.compare(pendingset, winner.pendingset) !== 0)
        stage.checks.violate('commitTask returned other bytes for the same files');
      await job.commit();
      await job.abort();
    },
    check: mustBeCommitted,
  },
  {
    name: 'carried, job aborted',
    about:
      'a committed attempt that only its driver and the ledger know, an aborted and an unfinished one, then abortJob',
    isSmall: true,
    async run(stage) {
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      await job.runTask(0, ['part-0']);
      const aborted = job.attempt(1);
      await aborted.write('part-1');
      await aborted.commit();
      await aborted.abort();
      await job.attempt(2).write('part-2');
      // The ledger is written, and drops what was handed over.
      await stage.world.pass(1_500);
      await job.runTask(3, ['part-3']);
      await job.abort();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told !== 'aborted') checks.violate('the job was not aborted');
    },
  },
  {
    name: 'carried, the driver dies before the commit',
    about: 'nobody else has the pendingsets: `jobs commit` is refused, `jobs abort` finds all uploads',
    isSmall: true,
    async run(stage) {
      stage.daemons(2);
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      await job.runTask(0, ['part-0']);
      const other = job.attempt(1, 0, 1);
      await other.write('part-1');
      await other.commit();
      await stage.world.pass(1_500);
      await stage.operate('job', 'commit');
      if (stage.checks.factsOfSync('job').some(({ decision }) => decision === 'commit'))
        stage.checks.violate('a job was committed without its driver');
      await stage.operate('job', 'abort');
    },
  },
  {
    name: 'carried, an aborted attempt is handed over',
    about: 'its tombstone came first and its uploads are gone: the commit is refused and decides nothing',
    isSmall: true,
    async run(stage) {
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      const first = await job.runTask(0, ['part-0']);
      const second = await job.runTask(1, ['part-1-a'], 0);
      await second.abort();
      await job.commit([first, second]);
      if (job.failure?.reason !== 'WINNER_NOT_COMMITTED')
        stage.checks.violate(`the commit answered ${job.failure?.reason ?? 'OK'}`);
      // What the refused call claimed does not hinder another one.
      const third = await job.runTask(1, ['part-1-b'], 1);
      await job.commit([first, third]);
    },
    check(stage) {
      mustBeCommitted(stage);
      mustHave(stage, 'part-0,part-1-b');
    },
  },
  {
    name: 'carried, an altered pendingset',
    about:
      'a driver hands over foreign uploads, or another job’s pendingset: refused, and nothing is written',
    async prepare({ checks }) {
      await checks.addForeignUpload('elsewhere/foreign');
    },
    async run(stage) {
      const job = stage.driver({ token: 'job', options });
      const other = stage.driver({ token: 'other', destination: 'other', options });
      await job.setup();
      await other.setup();
      const attempt = await job.runTask(0, ['part-0']);
      const theirs = await other.runTask(0, ['part-0-x']);
      const [foreign] = stage.world.raw.uploads(bucket).filter(({ key }) => key === 'elsewhere/foreign');
      const forged = [
        altered(attempt.pendingset, foreign?.uploadId ?? '', 'elsewhere/foreign'),
        theirs.pendingset,
        sealPendingset(
          new Uint8Array(32),
          openPendingset(new Uint8Array(32), attempt.pendingset) ?? attempt.pendingset.subarray(32),
        ),
      ];
      for (const pendingset of forged) {
        await job.handOver([pendingset]);
        if (job.failure?.reason !== 'FORGED_HANDLE')
          stage.checks.violate(`a forged pendingset was answered with ${job.failure?.reason ?? 'OK'}`);
        job.failure = undefined;
      }
      await job.commit();
      await other.abort();
    },
    check: mustBeCommitted,
  },
  {
    name: 'carried, zombie after the end',
    about: 'a task opens, writes and commits after the job was committed; another after it was aborted',
    leavesToGc: 'records',
    async run(stage) {
      stage.daemons(2);
      for (const [index, end] of (['commit', 'abort'] as const).entries()) {
        const job = stage.driver({ token: `job-${end}`, destination: `out-${end}`, options });
        await job.setup();
        await job.runTask(0, ['part-0']);
        const zombie = job.attempt(1, 0, 1);
        await zombie.write(`part-1-${index}`);
        await job[end]();
        // It may be told OK: nobody can hand its pendingset over any more.
        await zombie.commit();
        job.givenUp.add(zombie.ref.attemptId);
        await job.handOver([zombie.pendingset]);
        if (job.failure === undefined) stage.checks.violate('a zombie was handed over after the end');
        await stage.world.pass(1_500);
        await zombie.abort();
      }
    },
  },
  {
    name: 'carried, inline',
    about: 'inline files and an upload; one key holds an object, so that the job can only be finished',
    isSmall: true,
    async prepare({ checks }) {
      await checks.addForeignObject('out/part-0-a', true);
      await checks.addForeignObject('out/old');
    },
    async run(stage) {
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      await inlineTask(job, 0, ['part-0-a', 'part-0-b']);
      await job.runTask(1, ['part-1']);
      await job.commit();
    },
    check: mustBeCommitted,
  },
  {
    name: 'carried, replace',
    about: 'old objects go after the new ones are there, others stay',
    async prepare({ checks }) {
      await checks.addForeignObject('out/p=1/old', true);
      await checks.addForeignObject('out/p=2/old');
    },
    async run(stage) {
      const job = stage.driver({
        token: 'job',
        options: { ...options, conflictMode: 'replace', conflictScope: 'partitions' },
      });
      await job.setup();
      await job.runTask(0, ['p=1/new']);
      await inlineTask(job, 1, ['p=1/new-too']);
      await job.commit();
    },
    check(stage) {
      mustBeCommitted(stage);
      if (stage.world.raw.peek({ bucket, key: 'out/p=1/old' }) !== undefined)
        stage.checks.violate('out/p=1/old was not replaced');
    },
  },
  {
    name: 'carried, fail mode, occupied',
    about: 'data is there: the job is refused and leaves nothing',
    async prepare({ checks }) {
      await checks.addForeignObject('out/old');
    },
    async run(stage) {
      const job = stage.driver({ token: 'job', options: { ...options, conflictMode: 'fail' } });
      await job.setup();
      await job.runTask(0, ['part-0']);
      await job.commit();
      await job.abort();
    },
    check({ checks, drivers: [job] }) {
      if (job?.told === 'committed') checks.violate('the job was committed');
    },
  },
  {
    name: 'carried, then a restart',
    about:
      'a second master finds no task to recover, not even one that had nothing to commit, and reruns them; a third finds the commit',
    async run(stage) {
      const first = stage.driver({ token: 'job', options });
      await first.setup();
      const done = await first.runTask(0, ['part-0-a']);
      const empty = await first.runTask(1, []);
      const second = stage.driver({ token: 'job', jobAttempt: 1 });
      await second.setup();
      for (const attempt of [done, empty]) {
        const isRecovered = await second.recover(attempt).then(
          () => true,
          (error: unknown) => {
            if (isCommitterError(error, 'ATTEMPT_NOT_FOUND')) return false;
            throw error;
          },
        );
        if (isRecovered) stage.checks.violate('a task was recovered that its driver kept');
      }
      await second.runTask(0, ['part-0-b'], 1_000);
      await second.commit();
      await first.commit([done, empty]);
      if (first.told === 'committed') stage.checks.violate('a superseded job was committed');
    },
    check(stage) {
      if (stage.drivers[1]?.told !== 'committed') stage.checks.violate('the restart was not committed');
      mustHave(stage, 'part-0-b');
    },
  },
  {
    name: 'carried, replays after gc',
    about: 'every call once more when the job is done, and when gc has forgotten it',
    leavesToGc: 'records',
    async run(stage) {
      const job = stage.driver({ token: 'job', options });
      await job.setup();
      const attempt = await job.runTask(0, ['part-0']);
      await job.commit();
      await job.commit([attempt]);
      await attempt.commit();
      await stage.expire();
      await attempt.commit();
      await attempt.abort();
      await job.commit([attempt]);
    },
  },
];
