/** Each row of "When X fails" of the design, and the scenarios that are about it. */
export const designRows: Readonly<Record<string, readonly string[]>> = {
  'executor or task dies while writing': ['ledger', 'job aborted', 'opened and died'],
  'executor and its daemon die within a second of opening an upload': [
    'opened and died',
    'exclusive listing',
  ],
  'reply of CommitTask lost': ['one job', 'two attempts of a task', 'every call twice'],
  'commitTask paused between its PUT and its look at the decision': [
    'commitTask beside commitJob',
    'speculation with a zombie',
    'two plans',
  ],
  'abortTask at any point of CommitJob': [
    'abortTask of a winner beside commitJob',
    'abortTask beside commitJob',
    'abort of a committed attempt',
  ],
  'zombie commits after the decision': ['zombie after the end', 'speculation with a zombie'],
  'AM or driver dies before the decision': [
    'restart with recovery, after half',
    'restart with recovery, after all tasks',
    'restart without recovery, after all tasks',
    'job aborted',
  ],
  'AM 1 decided commit, AM 2 starts': [
    'restart with recovery, in publication',
    'restart with recovery, after publication',
    'AM 2 adopts, then its hook',
    'AM 2 adopts and reruns a task',
  ],
  'AM 1 wakes up after AM 3 started': ['three masters', 'late setupJob of a lower attempt'],
  "AM 3 recovers a task that AM 1 published through AM 2's adoption": [
    'AM 3 recovers what AM 1 published',
    'adoption by two masters',
  ],
  'the publisher dies after `published`': ['one job', 'replace destination', 'the hook of a successful AM'],
  "a commit refused because the job's own files are already there": [
    'fail mode on two daemons, destination',
    'fail mode on two daemons, partitions',
    'fail mode, empty',
  ],
  'daemon dies in publication': ['one job', 'several files an attempt', 'overwrite'],
  'AbortJob overlaps CommitJob': [
    'abort overlapping commit',
    'abortJob right after the decision',
    'the hook during commitJob',
  ],
  'any call replayed after cleanup': ['replays after cleanup', 'replays after gc', 'replays beside gc'],
  'rollback killed half-way': [
    'a rollback killed half-way, then AM 2',
    'abort overlapping commit',
    'AM 2 adopts and aborts, AM 3 starts',
    'restart without recovery, in publication',
  ],
  'another job writes the key between our HEAD and our DELETE': [
    'another writer between HEAD and DELETE',
    'another object at our key',
  ],
  'an upload destroyed from outside': [
    'an upload destroyed from outside',
    'an upload destroyed, with overwritten keys',
  ],
  'store answers 503 for minutes': ['one job', 'job aborted', 'abort overlapping commit'],
  'somebody else replaced an object at our key': [
    'another object at our key',
    'a foreign writer during publication',
    'append mode, a foreign writer who writes and deletes',
  ],
  'credentials expire in the middle': ['one job', 'job aborted'],
};

/** What is missing, in sentences. */
export function missingRows(scenarioNames: readonly string[]): string[] {
  const known = new Set(scenarioNames);
  return Object.entries(designRows).flatMap(([row, names]) => {
    const absent = names
      .filter((name) => !known.has(name))
      .map((name) => `${row}: there is no scenario '${name}'`);
    return names.length === 0 ? [`${row}: no scenario is about it`] : absent;
  });
}
