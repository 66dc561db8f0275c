import { edit, type Mutation } from './mutation.js';

/** `TASK_RECORDS_DRIVER`. */
export const carriedMutations: readonly Mutation[] = [
  {
    name: 'carried pendingsets are not claimed',
    edits: [
      edit(
        'app/facts.ts',
        'await this.store.put({ bucket: this.bucket, key: this.layout.claim(hash) }, body, {});',
        'void body;',
      ),
    ],
    tryFirst: ['carried'],
  },
  {
    name: 'tombstones are not looked for when pendingsets are claimed',
    edits: [edit('app/claims.ts', 'await refuseBuried(ctx, job.facts, carried);', 'void refuseBuried;')],
    tryFirst: ['carried, an aborted attempt is handed over'],
  },
  {
    name: 'tombstones are looked for before pendingsets are claimed',
    edits: [
      edit(
        'app/claims.ts',
        'const hashes = await writeClaims(job.facts, carried);\n  await refuseBuried(ctx, job.facts, carried);',
        'await refuseBuried(ctx, job.facts, carried);\n  const hashes = await writeClaims(job.facts, carried);',
      ),
    ],
    tryFirst: ['carried, abortTask of a winner beside commitJob'],
  },
  {
    name: 'abortTask does not look for claims',
    edits: [
      edit(
        'app/abort-task.ts',
        "job.record.options.taskRecords === 'driver' && (await job.facts.hasClaims())",
        "(job.record.options.taskRecords as string) === ''",
      ),
    ],
    tryFirst: ['carried, abortTask of a winner beside commitJob'],
  },
  {
    name: 'the decision comes before the claims',
    edits: [
      edit(
        'app/decide.ts',
        'const { sets, keys, records } = await choose(ctx, job, from);',
        `const late: (() => Promise<unknown>)[] = [];
  const lazy = Object.create(facts, {
    writeClaim: {
      value: (records: readonly Uint8Array[]) => {
        late.push(() => facts.writeClaim(records));
        return Promise.resolve(encodeClaim(job.token, jobAttempt, records).hash);
      },
    },
    listRecords: { value: () => facts.listRecords() },
    readRecord: { value: facts.readRecord.bind(facts) },
  }) as Job['facts'];
  const { sets, keys, records } = await choose(ctx, { ...job, facts: lazy }, from);`,
      ),
      edit(
        'app/decide.ts',
        'const { value: decision } = created;',
        'for (const write of late) await write();\n  const { value: decision } = created;',
      ),
      edit(
        'app/decide.ts',
        "import { choose, type Winners } from './choose.js';",
        "import { choose, type Winners } from './choose.js';\nimport { encodeClaim } from '../core/records/claim.js';",
      ),
    ],
    tryFirst: ['carried'],
  },
  {
    name: 'a pendingset is taken whoever made it',
    edits: [
      edit(
        'core/handle.ts',
        'return timingSafeEqual(signPendingset(hmacKey, record), signature) ? record : undefined;',
        'return record;',
      ),
    ],
    tryFirst: ['carried, an altered pendingset'],
  },
  {
    name: 'the ledger forgets what was handed over',
    edits: [
      edit(
        'app/commit-task.ts',
        'ctx.ledger.handOver(job, set.files, pendingSetDigest(set));',
        'ctx.ledger.remove(job, set.files);',
      ),
    ],
    tryFirst: ['carried, the driver dies before the commit', 'carried, job aborted'],
  },
  {
    name: 'the ledger removes segments whose uploads it has handed on',
    edits: [edit('app/ledger.ts', 'if (settled.length > 0) ledger.segments.length = 0;', '')],
    tryFirst: ['carried, job aborted'],
  },
  {
    name: 'claims are not looked at when losers are',
    edits: [
      edit(
        'app/sweep.ts',
        'const claims = await readClaims(ctx, facts, staged.claims);',
        'void readClaims;\n    const claims = { keys: [], sets: [] };',
      ),
    ],
    tryFirst: ['carried'],
  },
  {
    name: 'a task that its driver kept had nothing to commit',
    edits: [
      edit(
        'app/recover-task.ts',
        "if (predecessor.options.taskRecords === 'driver') {",
        "if ((predecessor.options.taskRecords as string) === '') {",
      ),
    ],
    tryFirst: ['carried, then a restart'],
  },
  {
    name: 'other pendingsets are taken for the committed ones',
    edits: [
      edit(
        'app/commit-job.ts',
        'if (plan !== undefined) refuseOtherWinners(job, plan, winners.carried);',
        'void refuseOtherWinners;\n    void plan;',
      ),
    ],
    tryFirst: ['carried, other pendingsets'],
  },
];
