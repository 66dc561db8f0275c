import { uriOf, type OutputFile, type PendingFile, type PendingSet } from '../core/records/attempt-record.js';
import type { Outcome } from '../core/records/outcome.js';
import type { Plan } from '../core/records/plan.js';
import { completeFile, type AskForAbsence } from './complete-file.js';
import { isoNow, type AppContext } from './context.js';
import type { JobFacts, Stored } from './facts.js';
import type { SendPut } from './fence.js';
import { mapLimit } from './map-limit.js';
import { publishInline } from './publish-inline.js';
import type { WinnerSets } from './winner-sets.js';

export type Publication =
  /** `own` where this call made it the outcome; without it, it may be `done` by now. */
  | { readonly result: 'published'; readonly own?: PublishedNow }
  /** A rollback was there first. */
  | { readonly result: 'stopped' }
  /** Another writer made an object at a key that was free when the plan was made. */
  | { readonly result: 'foreign'; readonly uri: string };

export interface PublishedNow {
  readonly outcome: Stored<Outcome>;
  /** Sends the marker, which was signed before the outcome was made: that it is `published` has been seen since. */
  readonly sendMarker: SendPut | undefined;
}

export interface PublishInput {
  /** Of the deciding job attempt. */
  readonly facts: JobFacts;
  readonly plan: Plan;
  /** In conflict mode `fail`, which has to notice every other writer. */
  readonly mustFindNothing: boolean;
  readonly sets: WinnerSets;
  /** Where the marker comes right after the outcome. */
  readonly signMarker?: () => Promise<SendPut>;
  /** Called once every file is visible. */
  readonly onVisible?: () => void;
}

/** Makes every file of the plan visible, those that replace nothing first, then makes `published` the outcome. */
export async function publish(ctx: AppContext, input: PublishInput): Promise<Publication> {
  const { facts, plan, sets } = input;
  const overwrites = new Set(plan.overwrites);
  const replaces = (file: OutputFile): boolean => overwrites.size > 0 && overwrites.has(uriOf(file));
  const absence = overwrites.size > 0 ? 'no' : input.mustFindNothing ? 'must' : 'cheaply';

  const replacesNothing = (file: OutputFile): boolean => !replaces(file);
  let foreign: OutputFile | undefined = await completeAll(ctx, sets.withUploads(), replacesNothing, absence);
  if (foreign === undefined) {
    const inline = await publishInline(ctx, facts, sets.inlineSources(), replaces, overwrites.size === 0);
    if (inline.result === 'stopped') return { result: 'stopped' };
    if (inline.result === 'foreign') foreign = inline.file;
  }
  if (foreign === undefined && overwrites.size > 0)
    foreign = await completeAll(ctx, sets.withUploads(), replaces, 'no', true);
  if (foreign !== undefined) return { result: 'foreign', uri: uriOf(foreign) };
  input.onVisible?.();
  const sendMarker = await input.signMarker?.();
  const outcome = await facts.createOutcome({ outcome: 'published', at: isoNow(ctx.clock) });
  if (outcome.status === 'created') return { result: 'published', own: { outcome, sendMarker } };
  const { value } = outcome;
  return value.outcome === 'published' || value.outcome === 'done'
    ? { result: 'published' }
    : { result: 'stopped' };
}

async function completeAll(
  ctx: AppContext,
  sets: Iterable<PendingSet> | AsyncIterable<PendingSet>,
  isMeant: (file: PendingFile) => boolean,
  absence: AskForAbsence,
  isReplacing = false,
): Promise<PendingFile | undefined> {
  let foreign: PendingFile | undefined;
  const files = filesWhere(sets, isMeant, () => foreign !== undefined);
  await mapLimit(files, ctx.options.completeConcurrency, async (file) => {
    if ((await completeFile(ctx, file, absence, isReplacing)) === 'foreign') foreign = file;
  });
  return foreign;
}

/** Of sets that are at hand at once, or of those that are read meanwhile. */
function filesWhere(
  sets: Iterable<PendingSet> | AsyncIterable<PendingSet>,
  isMeant: (file: PendingFile) => boolean,
  isOver: () => boolean,
): Iterable<PendingFile> | AsyncIterable<PendingFile> {
  function* meant({ files }: PendingSet): Generator<PendingFile> {
    for (const file of files) if (!isOver() && isMeant(file)) yield file;
  }
  function* ofHeld(held: Iterable<PendingSet>): Generator<PendingFile> {
    for (const set of held) yield* meant(set);
  }
  async function* ofRead(read: AsyncIterable<PendingSet>): AsyncGenerator<PendingFile> {
    for await (const set of read) {
      if (isOver()) return;
      yield* meant(set);
    }
  }
  return Symbol.asyncIterator in sets ? ofRead(sets) : ofHeld(sets);
}
