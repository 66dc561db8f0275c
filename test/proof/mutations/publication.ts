import { edit, type Mutation } from './mutation.js';

/** Records, decision, publication. */
export const publicationMutations: readonly Mutation[] = [
  {
    name: 'a patch that changes nothing',
    edits: [
      edit(
        'app/publish.ts',
        'const overwrites = new Set(plan.overwrites);',
        'const overwrites = new Set([...plan.overwrites]);',
      ),
    ],
    tryFirst: ['several files an attempt', 'abort of a committed attempt', 'abortTask beside commitJob'],
    isHarmless: true,
  },
  {
    name: 'no conditional PUT',
    edits: [
      edit(
        'app/facts.ts',
        'await this.store.put(object, body, asOneShotFact)',
        'await this.store.put(object, body, {})',
      ),
    ],
    tryFirst: ['abort overlapping commit', 'job aborted'],
  },
  {
    name: 'decision after the first Complete',
    edits: [
      edit(
        'app/decide.ts',
        'const hash = await facts.writePlan(plan);',
        `const hash = await facts.writePlan(plan);
  for await (const { files } of sets.withUploads()) for (const file of files.slice(0, 1)) {
    const parts = file.etags.map((etag, index) => ({ partNumber: index + 1, etag }));
    await ctx.roots.storeOf(file).complete(file, parts, {}).catch(() => undefined);
  }`,
      ),
    ],
    tryFirst: ['one job'],
  },
  {
    name: 'abort without a tombstone',
    edits: [
      edit(
        'app/abort-task.ts',
        'const created = await job.facts.createRecord(fresh);',
        'if (named.length > 0) return fresh;\n  const created = await job.facts.createRecord(fresh);',
      ),
    ],
    tryFirst: ['a zombie of an aborted attempt'],
  },
  {
    name: 'a tombstone that forgets the upload ids',
    edits: [edit('app/abort-task.ts', 'attempt, replaced: value, named: [] }', 'attempt, named: [] }')],
    tryFirst: ['abort of a committed attempt', 'abortTask beside commitJob'],
  },
  {
    name: 'uploads of a tombstone over a pendingset aborted before the decision',
    edits: [
      edit(
        'core/abort-rule.ts',
        'record.replaced !== undefined || lowerPendingSetExists',
        'lowerPendingSetExists',
      ),
      edit(
        'app/abort-task.ts',
        "case 'undecided':\n    case 'superseded':\n      return [];",
        "case 'undecided':\n    case 'superseded':\n      return uploadsIn(record);",
      ),
    ],
    tryFirst: ['abortTask of a winner beside commitJob'],
  },
  {
    name: 'no HEAD after an ambiguous Complete',
    edits: [
      edit(
        'app/complete-file.ts',
        "if (isOurs(found, file)) return 'published';\n      if (!isStoreError(error, 'precondition-failed', 'conflict'))",
        "if (!isStoreError(error, 'precondition-failed', 'conflict'))",
      ),
    ],
    tryFirst: ['one job, completes only once', 'one job'],
  },
  {
    name: 'the first attempt wins',
    edits: [
      edit('core/winners.ts', 'b.attemptNumber - a.attemptNumber', 'a.attemptNumber - b.attemptNumber'),
    ],
    tryFirst: ['two attempts of a task'],
  },
  {
    name: 'of a large job only what is held is published',
    edits: [
      edit('app/winner-sets.ts', 'held.length === winners.length ? held : this.#readAhead(winners)', 'held'),
    ],
    tryFirst: ['several files an attempt, nothing held'],
  },
  {
    name: 'deletions before completions',
    edits: [
      edit(
        'app/commit-job.ts',
        'if (loaded === undefined) return undefined;\n      const publication',
        `if (loaded === undefined) return undefined;
      for (const deletion of loaded.plan.deletions) await ctx.roots.storeOf(deletion).delete(deletion, {});
      const publication`,
      ),
    ],
    tryFirst: ['replace destination'],
  },
  {
    name: 'the outcome is not written',
    edits: [
      edit(
        'app/publish.ts',
        "const outcome = await facts.createOutcome({ outcome: 'published', at: isoNow(ctx.clock) });",
        "await facts.readOutcome();\n  const written = { outcome: 'published', at: isoNow(ctx.clock) } as const;\n  const outcome = { status: 'exists', value: written, etag: '' } as Awaited<ReturnType<typeof facts.createOutcome>>;",
      ),
    ],
    tryFirst: ['job aborted', 'one job'],
  },
  {
    name: 'the outcome before the last Complete',
    edits: [
      edit(
        'app/publish.ts',
        'const overwrites = new Set(plan.overwrites);',
        "await facts.createOutcome({ outcome: 'published', at: isoNow(ctx.clock) });\n  const overwrites = new Set(plan.overwrites);",
      ),
    ],
    tryFirst: ['one job'],
  },
  {
    name: 'only the attempt before is superseded',
    edits: [
      edit(
        'app/settle-lower-attempts.ts',
        'lower >= 0; lower--',
        'lower >= jobAttempt - 1 && lower >= 0; lower--',
      ),
    ],
    tryFirst: ['three masters', 'adoption by two masters', 'late setupJob of a lower attempt'],
  },
  {
    name: 'no adoption',
    edits: [edit('app/settle-lower-attempts.ts', 'adopts = lower;', '')],
    tryFirst: ['restart with recovery, in publication', 'restart with recovery, after publication'],
  },
  {
    name: 'an adopting attempt deletes the marker',
    edits: [
      edit(
        'app/setup-job.ts',
        'const oldMarker = adopts === undefined ? await headMarker(address) : undefined;',
        'const oldMarker = await headMarker(address);',
      ),
      edit(
        'app/setup-job.ts',
        'if (oldMarker !== undefined && created.value.adopts === undefined)',
        'if (oldMarker !== undefined)',
      ),
    ],
    tryFirst: ['restart with recovery, after publication'],
  },
  {
    name: 'own keys among the deletions',
    edits: [
      edit('app/conflicts.ts', 'if (found.size > 0) await leaveOutOwn(found, keys);', 'void leaveOutOwn;'),
      edit(
        'app/finish.ts',
        'await store.delete(deletion, { ifMatch: deletion.etag }, inTime(ctx));',
        'await store.delete(deletion, {});',
      ),
    ],
    tryFirst: ['two jobs with the same keys, one after the other, replace'],
  },
  {
    name: 'an unconditional DELETE of what replace lists',
    edits: [
      edit(
        'app/finish.ts',
        'await store.delete(deletion, { ifMatch: deletion.etag }, inTime(ctx));',
        'await store.delete(deletion, {});',
      ),
    ],
    tryFirst: ['another writer between HEAD and DELETE'],
  },
  {
    name: 'inline files are signed after the look at the outcome',
    edits: [
      edit(
        'app/publish-inline.ts',
        'const prepared = await mapLimit(todo, ctx.options.completeConcurrency, (entry) => this.#prepare(entry));\n      const outcome = await this.facts.readOutcome();',
        'const outcome = await this.facts.readOutcome();\n      const prepared = await mapLimit(todo, ctx.options.completeConcurrency, (entry) => this.#prepare(entry));',
      ),
    ],
    tryFirst: ['inline, abortJob right after the decision'],
  },
  {
    name: 'inline files are put without a look at the outcome',
    edits: [
      edit(
        'app/publish-inline.ts',
        'const outcome = await this.facts.readOutcome();',
        'const outcome = undefined as Awaited<ReturnType<JobFacts["readOutcome"]>>;',
      ),
    ],
    tryFirst: ['inline, abortJob right after the decision'],
  },
  {
    name: 'a rollback does not wait for inline files under way',
    edits: [
      edit(
        'app/rollback.ts',
        'if (inlineFiles > 0) await ctx.clock.sleep(ctx.options.requestBoundMs);',
        'void inlineFiles;',
      ),
    ],
    tryFirst: ['inline, abortJob right after the decision'],
  },
];
