import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { abortableBeforeDecision, losers, UploadSet } from '../../../src/core/abort-rule.js';
import type { JobToken, TaskAttempt, TaskName } from '../../../src/core/ids.js';
import { refuseDuplicateKeys } from '../../../src/core/key-clash.js';
import type { AttemptRecord, PendingSet } from '../../../src/core/records/attempt-record.js';
import { WinnerChoice } from '../../../src/core/winners.js';
import { reasonOf } from '../../support/reason-of.js';

const token = 'job' as JobToken;
const file = (uploadId: string, key = uploadId) => ({
  ...{ scheme: 's3', bucket: 'b', key, uploadId, commitbridgeId: `c-${uploadId}` },
  ...{ lengthBytes: 1, etags: ['e'] },
});
function setOf(task: string, number: number, ...files: ReturnType<typeof file>[]): PendingSet {
  return {
    kind: 'pendingset',
    inline: [],
    token,
    attempt: { task: task as TaskName, number, id: `${task}-${number}` },
    root: 'r',
    files,
  };
}
const buried = (set: PendingSet): AttemptRecord => ({
  kind: 'tombstone',
  token,
  attempt: set.attempt,
  replaced: set,
  named: [],
});

/** As CommitJob asks, task by task. */
function chosen(records: readonly AttemptRecord[], exact?: readonly TaskAttempt[]): string[] {
  const choice = new WinnerChoice(exact);
  const ids: string[] = [];
  for (const task of new Set(records.map(({ attempt }) => attempt.task))) {
    const ofTask = records.filter(({ attempt }) => attempt.task === task);
    const listed = ofTask.map((record) => ({ task, attemptNumber: record.attempt.number, record }));
    const winner = choice.candidates(listed).find(({ record }) => choice.isWinner(record));
    if (winner !== undefined) ids.push(winner.record.attempt.id);
  }
  choice.refuseMissing();
  return ids.sort();
}

describe('winners', () => {
  it('are the highest attempts of each task without tombstone', () => {
    const records = [
      setOf('m-1', 10),
      setOf('m-1', 9),
      setOf('m-0', 0),
      buried(setOf('m-0', 1)),
      buried(setOf('m-2', 0)),
      setOf('r-0', 0),
    ];
    expect(chosen(records)).toEqual(['m-0-0', 'm-1-10', 'r-0-0']);
  });

  it('do not depend on the order of records', () => {
    const all = [setOf('m-0', 0), setOf('m-0', 5), buried(setOf('m-0', 7)), setOf('m-1', 2), setOf('m-1', 1)];
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (shuffled) => {
        expect(chosen(shuffled)).toEqual(chosen(all));
      }),
    );
  });

  it('are exactly those named, or none is chosen', () => {
    const records = [setOf('m-0', 0), setOf('m-0', 1), buried(setOf('m-1', 0))];
    const attempt = (task: string, number: number, id = `${task}-${number}`) => ({
      task: task as TaskName,
      number,
      id,
    });
    expect(chosen(records, [attempt('m-0', 0)])).toEqual(['m-0-0']);
    expect(chosen(records, [])).toEqual([]);
    for (const missing of [attempt('m-9', 0), attempt('m-1', 0), attempt('m-0', 0, 'other')]) {
      expect(reasonOf(() => chosen(records, [missing]))).toBe('WINNER_NOT_COMMITTED');
    }
    expect(reasonOf(() => chosen(records, [attempt('m-0', 0), attempt('m-0', 1)]))).toBe('INVALID_FIELD');
  });

  it('have each key once', () => {
    refuseDuplicateKeys([file('1', 'a'), file('2', 'b'), { ...file('3', 'a'), bucket: 'c' }]);
    expect(reasonOf(() => refuseDuplicateKeys([file('1', 'a'), file('2', 'a')]))).toBe('DUPLICATE_KEY');
    for (const [one, other] of [
      ['a', 'a/b'],
      ['a', 'a/b/c/d'],
      ['x/a', 'x/a/b'],
    ] as const) {
      expect(reasonOf(() => refuseDuplicateKeys([file('1', one), file('2', other)]))).toBe('DUPLICATE_KEY');
      expect(reasonOf(() => refuseDuplicateKeys([file('1', other), file('2', one)]))).toBe('DUPLICATE_KEY');
    }
    refuseDuplicateKeys([
      file('1', 'a/b'),
      file('2', 'a/c'),
      file('3', 'ab'),
      file('4', 'a-'),
      file('5', 'a/b2/c'),
    ]);
  });
});

describe('the abort rule', () => {
  const created: AttemptRecord = {
    kind: 'tombstone',
    token,
    attempt: setOf('m-0', 0).attempt,
    named: [file('1')],
  };

  it('before the decision frees uploads of a created tombstone only', () => {
    expect(abortableBeforeDecision(created, false)).toEqual([file('1')]);
    expect(abortableBeforeDecision(created, true)).toEqual([]);
    expect(abortableBeforeDecision(buried(setOf('m-0', 0, file('1'))), false)).toEqual([]);
    expect(abortableBeforeDecision(setOf('m-0', 0, file('1')), false)).toEqual([]);
    expect(abortableBeforeDecision(undefined, false)).toEqual([]);
  });

  it('after it frees all but the winners’, each once, from records and ledgers', () => {
    const winner = file('w');
    const winning = new UploadSet();
    winning.add(winner);
    const freed = losers(
      [setOf('m-0', 0, winner, file('1')), buried(setOf('m-0', 1, winner, file('2'))), created],
      [file('1'), winner, file('3')],
      winning,
    );
    expect(freed.map(({ uploadId }) => uploadId).sort()).toEqual(['1', '2', '3']);
  });

  it('takes an id for the winner’s only at the winner’s key, bucket and store', () => {
    const winner = file('w');
    const others = [
      { ...winner, key: 'other' },
      { ...winner, bucket: 'other' },
      { ...winner, scheme: 'oss' },
    ];
    const winning = new UploadSet();
    winning.add(winner);
    expect(losers([], [winner, ...others], winning)).toEqual(others);
    for (const each of [...others, winner, ...others]) winning.add(each);
    expect(losers([], [winner, ...others], winning)).toEqual([]);
    expect(losers([], [{ ...winner, key: 'a third' }], winning)).toHaveLength(1);
  });
});
