import { uriOf, type OutputFile, type PendingFile, type PendingSet } from '../core/records/attempt-record.js';
import type { JobToken } from '../core/ids.js';
import type { Outcome } from '../core/records/outcome.js';
import type { Plan } from '../core/records/plan.js';
import { completeFile, type AskForAbsence } from './complete-file.js';
import { isoNow, type AppContext } from './context.js';
import { filesOf } from './files-of.js';
import type { JobFacts, Stored } from './facts.js';
import type { SendPut } from './fence.js';
import { factsOf } from './job-directory.js';
import { mapLimit } from './map-limit.js';
import { placeOf, WinnerReader } from './load-records.js';
import { publishInline, type InlineSource } from './publish-inline.js';
import type { Root } from './roots.js';

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
  readonly root: Root;
  readonly token: JobToken;
  /** Of the deciding job attempt. */
  readonly facts: JobFacts;
  readonly plan: Plan;
  /** In conflict mode `fail`, which has to notice every other writer. */
  readonly mustFindNothing: boolean;
  /** One a winner, in the plan's order. */
  readonly sets: readonly PendingSet[];
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

  const foreign =
    (await completeAll(
      ctx,
      filesWhere(sets, (file) => !replaces(file)),
      absence,
    )) ??
    (await putAllInline(ctx, input, replaces, overwrites.size === 0)) ??
    (await completeAll(ctx, filesWhere(sets, replaces), 'no', true));
  if (foreign === 'stopped') return { result: 'stopped' };
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

function* filesWhere(
  sets: readonly PendingSet[],
  isMeant: (file: PendingFile) => boolean,
): Generator<PendingFile> {
  for (const file of filesOf(sets)) if (isMeant(file)) yield file;
}

async function completeAll(
  ctx: AppContext,
  files: Iterable<PendingFile>,
  absence: AskForAbsence,
  isReplacing = false,
): Promise<PendingFile | undefined> {
  let foreign: PendingFile | undefined;
  await mapLimit(files, ctx.options.completeConcurrency, async (file) => {
    if (foreign !== undefined) return;
    if ((await completeFile(ctx, file, absence, isReplacing)) === 'foreign') foreign = file;
  });
  return foreign;
}

async function putAllInline(
  ctx: AppContext,
  { root, token, facts, plan, sets }: PublishInput,
  replaces: (file: OutputFile) => boolean,
  overwritesNothing: boolean,
): Promise<OutputFile | 'stopped' | undefined> {
  const reader = new WinnerReader(root, token);
  const sources = plan.winners.flatMap((winner, index): InlineSource[] => {
    const set = sets[index];
    if (set === undefined || set.inline.length === 0) return [];
    const place = placeOf(factsOf(root, token, winner.jobAttempt), winner);
    return [{ set, place, read: () => reader.read(winner) }];
  });
  const published = await publishInline(ctx, facts, sources, replaces, overwritesNothing);
  if (published.result === 'foreign') return published.file;
  return published.result === 'stopped' ? 'stopped' : undefined;
}
