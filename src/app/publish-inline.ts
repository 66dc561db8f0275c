import { uriOf, type InlineFile, type PendingSet } from '../core/records/attempt-record.js';
import { isStoreError, type ObjectHead, type PreparedPut, type PutOptions } from '../ports/object-store.js';
import type { AppContext } from './context.js';
import type { JobFacts } from './facts.js';
import { fenceSeconds, isTooLate } from './fence.js';
import { mapLimit } from './map-limit.js';
import { commitbridgeIdName } from './open-file.js';

export type InlinePublication =
  { readonly result: 'published' | 'stopped' } | { readonly result: 'foreign'; readonly file: InlineFile };

interface Pending {
  readonly file: InlineFile;
  readonly condition: Pick<PutOptions, 'ifNoneMatch' | 'ifMatch'>;
  /** How often it came too late. */
  readonly late: number;
}

/** A winner's inline files. */
export interface InlineSource {
  /** How many. */
  readonly files: number;
  /** The whole set, with their content. */
  readonly read: () => Promise<PendingSet>;
}

/** Files that are signed, looked at and sent together: few enough for the fence, many enough for one look. */
const batchSize = 128;
/** Batches under way. */
const batchConcurrency = 4;
const maxRounds = 6;

/**
 * Puts inline files to their final keys. Each batch, of one winner's files or of several, is signed first, then the
 * outcome is read, then it is sent: a publisher that was paused in between comes too late for the store, and one
 * that is paused before sees the rollback. `replaces` are the files whose keys held an object when the plan was made.
 */
export async function publishInline(
  ctx: AppContext,
  facts: JobFacts,
  sources: readonly InlineSource[],
  replaces: (file: InlineFile) => boolean,
  overwritesNothing: boolean,
): Promise<InlinePublication> {
  let ended: InlinePublication | undefined;
  await mapLimit(groupsOf(sources), batchConcurrency, async (group) => {
    const sets = await mapLimit(group, ctx.options.recordConcurrency, ({ read }) => read());
    const files = sets.flatMap(({ inline }) => inline);
    for (let start = 0; start < files.length && ended === undefined; start += batchSize) {
      const batch = new InlineBatch(ctx, facts, overwritesNothing);
      const published = await batch.publish(files.slice(start, start + batchSize), replaces);
      if (published.result !== 'published') ended = published;
    }
  });
  return ended ?? { result: 'published' };
}

/** Winners that fill a batch together; one that has more files than that is alone. */
function* groupsOf(sources: readonly InlineSource[]): Generator<readonly InlineSource[]> {
  let group: InlineSource[] = [];
  let files = 0;
  for (const source of sources) {
    if (files + source.files > batchSize && group.length > 0) {
      yield group;
      group = [];
      files = 0;
    }
    group.push(source);
    files += source.files;
  }
  if (group.length > 0) yield group;
}

class InlineBatch {
  constructor(
    private readonly ctx: AppContext,
    private readonly facts: JobFacts,
    private readonly overwritesNothing: boolean,
  ) {}

  async publish(
    files: readonly InlineFile[],
    replaces: (file: InlineFile) => boolean,
  ): Promise<InlinePublication> {
    const { ctx } = this;
    let pending = await mapLimit(
      files,
      ctx.options.recordConcurrency,
      async (file): Promise<Pending | undefined> => {
        const entry: Pending = { file, condition: { ifNoneMatch: '*' }, late: 0 };
        return replaces(file) ? this.#next(entry, await ctx.roots.storeOf(file).head(file)) : entry;
      },
    );
    for (let round = 0; round < maxRounds; round++) {
      const todo = pending.filter((entry) => entry !== undefined);
      if (todo.length === 0) return { result: 'published' };
      // The look at the outcome may take longer than the signatures live.
      const prepared = await mapLimit(todo, ctx.options.completeConcurrency, (entry) => this.#prepare(entry));
      const outcome = await this.facts.readOutcome();
      if (outcome?.value.outcome === 'rollback' || outcome?.value.outcome === 'rolled-back')
        return { result: 'stopped' };
      // A faster publisher has put them all.
      if (outcome !== undefined) return { result: 'published' };
      let foreign: InlineFile | undefined;
      pending = await mapLimit(todo, ctx.options.completeConcurrency, async (entry, index) => {
        const put = prepared[index];
        if (put === undefined || foreign !== undefined) return entry;
        const left = await this.#send(entry, put);
        if (left === 'foreign') foreign = entry.file;
        return left === 'foreign' ? entry : left;
      });
      if (foreign !== undefined) return { result: 'foreign', file: foreign };
      if (round > 0) await ctx.clock.sleep(100 * 2 ** round * ctx.random.fraction());
    }
    const [stuck] = pending.filter((entry) => entry !== undefined);
    if (stuck === undefined) return { result: 'published' };
    throw new Error(`${uriOf(stuck.file)} could not be put in ${maxRounds} rounds`);
  }

  #prepare({ file, condition }: Pending): Promise<PreparedPut> {
    const store = this.ctx.roots.storeOf(file);
    const { conditionalPut, conditionalOverwrite } = store.capabilities;
    const isPossible = condition.ifMatch === undefined ? conditionalPut : conditionalOverwrite;
    const options = {
      ...(isPossible ? condition : {}),
      ...(file.contentType === '' ? {} : { contentType: file.contentType }),
      metadata: { [commitbridgeIdName]: file.commitbridgeId },
    };
    return store.preparePut({ bucket: file.bucket, key: file.key }, options, fenceSeconds);
  }

  /** `undefined` when the file is there; otherwise what to try next. */
  async #send(entry: Pending, put: PreparedPut): Promise<Pending | 'foreign' | undefined> {
    const { ctx } = this;
    const { file } = entry;
    const store = ctx.roots.storeOf(file);
    try {
      await store.sendPut(put, file.content ?? new Uint8Array());
      return undefined;
    } catch (error) {
      if (isTooLate(error, entry.late + 1)) return { ...entry, late: entry.late + 1 };
      if (!isStoreError(error, 'precondition-failed', 'conflict', 'not-found')) throw error;
      const found = await store.head(file);
      const isForeign = found !== undefined && found.metadata[commitbridgeIdName] !== file.commitbridgeId;
      return isForeign && this.overwritesNothing ? 'foreign' : this.#next(entry, found);
    }
  }

  /** Where keys existed already, the last writer wins, key by key. */
  #next(entry: Pending, found: ObjectHead | undefined): Pending | undefined {
    if (found === undefined) return { ...entry, condition: { ifNoneMatch: '*' } };
    if (found.metadata[commitbridgeIdName] === entry.file.commitbridgeId) return undefined;
    return { ...entry, condition: { ifMatch: found.etag } };
  }
}
