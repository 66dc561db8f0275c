import { edit, type Mutation } from './mutation.js';

/** Cleanup, rollback, restarts, gc. */
export const endingMutations: readonly Mutation[] = [
  {
    name: 'losers are not looked for after the decision',
    edits: [
      edit(
        'app/finish.ts',
        'input.sweeping ?? abortLosers(ctx, root, token, input.jobAttempt, input.sets.uploads, input.records),',
        '{ bucket: root.staging.bucket, keys: [], aborted: [] },',
      ),
      edit(
        'app/commit-job.ts',
        'this.#sweeping = abortLosers(this.ctx, root, token, jobAttempt, uploads, records);\n        this.#sweeping.catch(() => undefined);',
        'void [root, token, jobAttempt, uploads, records];',
      ),
    ],
    tryFirst: ['two attempts of a task', 'abort of a committed attempt'],
  },
  {
    name: 'ledgers are not looked at after the decision',
    edits: [edit('app/sweep.ts', 'if (!winning.has(upload)) ledger.push(upload);', '')],
    tryFirst: ['ledger', 'job aborted'],
  },
  {
    name: 'closed files are not looked for after the decision',
    edits: [edit('app/sweep.ts', '[...ledger, ...closed.map(({ file }) => file)]', 'ledger')],
    tryFirst: ['closed files of losers', 'closed files of an aborted job'],
  },
  {
    name: 'winners are aborted with the losers',
    edits: [
      edit('app/finish.ts', 'input.jobAttempt, input.sets.uploads, input.records)', 'input.jobAttempt)'),
      edit(
        'app/commit-job.ts',
        'jobAttempt, uploads, records);',
        'jobAttempt);\n        void [uploads, records];',
      ),
      edit(
        'app/publish.ts',
        "const outcome = await facts.createOutcome({ outcome: 'published', at: isoNow(ctx.clock) });",
        "const outcome = await facts.createOutcome({ outcome: 'published', at: isoNow(ctx.clock) });\n  for await (const { files } of sets.withUploads()) for (const file of files) await ctx.roots.storeOf(file).delete(file, {});",
      ),
    ],
    tryFirst: ['one job'],
  },
  {
    name: 'cleanup by prefix',
    edits: [
      edit(
        'app/sweep.ts',
        "ctx.background.start('remove processed records', async () => {",
        `ctx.background.start('remove processed records', async () => {
    const [any] = keys;
    if (any !== undefined) {
      const all = await root.store.list(bucket, any.split('/').slice(0, -3).join('/') + '/', {});
      await root.store.deleteMany(bucket, all.objects.map(({ key }) => key));
    }`,
      ),
    ],
    tryFirst: ['one job'],
  },
  {
    name: 'no second look at aborted uploads',
    edits: [edit('app/sweep.ts', 'if (aborted.length > 0) lookAgain(ctx, aborted);', 'void aborted;')],
    tryFirst: ['parts that land after the end'],
  },
  {
    name: 'a superseded job attempt undoes what it adopted',
    edits: [
      edit(
        'app/abort-job.ts',
        "if (decision?.decision === 'superseded') throw supersededBy(token, decision.by);",
        'void decision;',
      ),
    ],
    tryFirst: ['AM 2 adopts, its hook after AM 3 adopted too'],
  },
  {
    name: 'any handle is accepted',
    edits: [
      edit(
        'core/handle.ts',
        'return handle.length === expected.length && timingSafeEqual(expected, handle);',
        'return handle.length === expected.length || timingSafeEqual(expected, handle);',
      ),
    ],
    tryFirst: ['forged handles'],
  },
  {
    name: 'rollback deletes before it aborts',
    edits: [
      edit(
        'app/rollback.ts',
        'let inlineFiles = 0;',
        'let inlineFiles = 0;\n  await removeOutputs(observe);',
      ),
      edit('app/rollback.ts', 'await removeOutputs(observe);\n  // Nothing', '// Nothing'),
    ],
    tryFirst: ['abortJob right after the decision'],
  },
  {
    name: 'rollback without HEAD',
    edits: [
      edit(
        'app/rollback.ts',
        "return found.metadata[commitbridgeIdName] === file.commitbridgeId ? 'removed' : 'foreign';",
        "return file.commitbridgeId === '' ? 'foreign' : 'removed';",
      ),
    ],
    tryFirst: ['a foreign writer during publication', 'another object at our key'],
  },
  {
    name: 'rollback although keys were overwritten',
    edits: [
      edit(
        'app/abort-job.ts',
        'if (decision.overwrites === 0) return;',
        'if (decision.overwrites >= 0) return;',
      ),
    ],
    tryFirst: ['overwrite'],
  },
  {
    name: 'no look at the decision after commitTask',
    edits: [edit('app/commit-task.ts', 'await this.#askDecision(set);', '')],
    tryFirst: ['zombie after the end'],
  },
  {
    name: 'publication ignores a rollback',
    edits: [
      edit(
        'app/facts.ts',
        'createOutcome(outcome: Outcome): Promise<Creation<Outcome>> {',
        `async createOutcome(outcome: Outcome): Promise<Creation<Outcome>> {
    if (outcome.outcome === 'published') {
      const { etag } = await this.store.put({ bucket: this.bucket, key: this.layout.outcome }, encodeOutcome(outcome), {});
      return { status: 'created', value: outcome, etag };
    }`,
      ),
    ],
    tryFirst: ['abortJob right after the decision'],
  },
  {
    name: 'Completes are never conditional',
    edits: [edit('app/complete-file.ts', "conditional ? { ifNoneMatch: '*' } : {}", '{}')],
    tryFirst: ['a foreign writer right after the plan'],
  },
  {
    name: 'gc removes the decision first',
    edits: [
      edit(
        'app/gc-collect.ts',
        'facts.sort((a, b) => a.rank - b.rank)',
        'facts.sort((a, b) => b.rank - a.rank)',
      ),
    ],
    tryFirst: ['replays beside gc', 'replays after gc', 'gc twice at once'],
  },
  {
    name: 'the ledger is not written',
    edits: [
      edit(
        'app/facts.ts',
        'await this.store.put({ bucket: this.bucket, key }, encodeLedgerSegment(uploads), {});',
        'void uploads;',
      ),
    ],
    tryFirst: ['ledger', 'job aborted'],
  },
  {
    name: 'a cached job.json is trusted by commitJob',
    edits: [
      edit(
        'app/commit-job.ts',
        'Promise.all([found.facts.readJob(),',
        'Promise.all([found.record as typeof found.record | undefined,',
      ),
    ],
    tryFirst: ['replays after gc'],
  },
  {
    name: 'the abort decision overwrites',
    edits: [
      edit(
        'app/facts.ts',
        'createDecision(decision: Decision): Promise<Creation<Decision>> {',
        `async createDecision(decision: Decision): Promise<Creation<Decision>> {
    if (decision.decision === 'abort') {
      const { etag } = await this.store.put({ bucket: this.bucket, key: this.layout.decision }, encodeDecision(decision), {});
      return { status: 'created', value: decision, etag };
    }`,
      ),
    ],
    tryFirst: ['the hook of a successful AM', 'abort overlapping commit'],
  },
  {
    name: 'abortJob leaves lower numbers undecided',
    edits: [
      edit(
        'app/abort-job.ts',
        'for (let number = highest; number >= 0; number--)',
        'for (let number = highest; number >= highest; number--)',
      ),
    ],
    tryFirst: ['late setupJob of a lower attempt', 'restart without recovery, after half'],
  },
  {
    name: 'any driver is taken for the same one',
    edits: [
      edit(
        'app/setup-job.ts',
        'if (existing.setupId === asked.setupId && existing',
        'if (existing.setupId !== undefined || existing',
      ),
    ],
    tryFirst: ['a second driver with the same token'],
  },
  {
    name: 'an ended token is set up again',
    edits: [
      edit(
        'app/refuse-used-token.ts',
        'switch (state.state) {',
        "if (state.state !== 'superseded') return;\n  switch (state.state) {",
      ),
    ],
    tryFirst: ['abortJob before setupJob', 'replays after cleanup'],
  },
  {
    name: 'an unfinished rollback is not finished by the next job attempt',
    edits: [
      edit(
        'app/settle-lower-attempts.ts',
        'await finishRollback(ctx, root, token, facts, state.decision);',
        'void finishRollback;',
      ),
    ],
    tryFirst: ['a rollback killed half-way, then AM 2'],
  },
  {
    name: 'a rerun in an adopting attempt counts as a winner’s',
    edits: [
      edit(
        'app/commit-job.ts',
        'return adopts === undefined ? facts : factsOf(root, token, adopts);',
        'void [root, token, adopts];\n  return facts;',
      ),
      edit(
        'app/commit-job.ts',
        "if (state.state === 'undecided' && adopts === undefined) {",
        "if (state.state === 'undecided') {",
      ),
    ],
    tryFirst: ['AM 2 adopts and reruns a task', 'restart with recovery, in publication'],
  },
  {
    name: 'recovery from an attempt that took over a decision',
    edits: [
      edit('app/recover-task.ts', 'if (await isPublishedBy(job, record.adopts, attempt)) return;', 'return;'),
    ],
    tryFirst: ['AM 3 asks for a rerun of AM 2, which adopted'],
  },
  {
    name: 'the first committer’s marker stays',
    edits: [edit('app/finish.ts', 'if (isThere) condition = {};', 'if (isThere) return stored;')],
    tryFirst: ['two appends, one marker'],
  },
];
