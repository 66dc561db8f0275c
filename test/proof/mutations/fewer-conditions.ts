import { edit, type Mutation } from './mutation.js';

/** What takes the place of conditions where a store hasn't got them, or where they are dear. */
export const fewerConditionsMutations: readonly Mutation[] = [
  {
    name: 'dear conditional Completes are spared in mode fail too',
    store: 'oss',
    edits: [
      edit('app/complete-file.ts', "absence === 'must' || (absence === 'cheaply' &&", "(absence !== 'no' &&"),
    ],
    tryFirst: ['a foreign writer right after the plan, fail'],
  },
  {
    name: 'no success marker',
    store: 'oss',
    edits: [edit('app/finish.ts', 'await send(body);\n      return stored;', 'return stored;')],
    tryFirst: ['one job'],
  },
  {
    name: 'replace deletes without a look',
    store: 'oss',
    edits: [edit('app/finish.ts', 'if (!(await isUnchanged(ctx, deletion))) return;\n      try', 'try')],
    tryFirst: [
      'two jobs with the same keys, one after the other, replace',
      'another writer between HEAD and DELETE',
    ],
  },
  {
    name: 'a rollback deletes without a look',
    store: 'oss',
    edits: [
      edit(
        'app/rollback.ts',
        'let fate = fateOf(await store.head(file), file);',
        "let fate: KeyFate = 'removed';",
      ),
      edit(
        'app/rollback.ts',
        "fate = fateOf(await store.head(file), file);\n    return fate === 'removed';",
        'return true;',
      ),
    ],
    tryFirst: ['another object at our key'],
  },
];
