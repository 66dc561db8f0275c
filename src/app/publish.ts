import { uriOf, type PendingFile, type PendingSet } from '../core/records/attempt-record.js';
import type { Plan } from '../core/records/plan.js';
import { completeFile } from './complete-file.js';
import { isoNow, type AppContext } from './context.js';
import { filesOf } from './files-of.js';
import type { JobFacts } from './facts.js';
import { mapLimit } from './map-limit.js';

export type Publication =
  | { readonly result: 'published' }
  /** A rollback was there first. */
  | { readonly result: 'stopped' }
  /** Another writer made an object at a key that was free when the plan was made. */
  | { readonly result: 'foreign'; readonly uri: string };

/** Completes every upload of the plan, those that replace nothing first, then makes `published` the outcome. */
export async function publish(
  ctx: AppContext,
  facts: JobFacts,
  plan: Plan,
  sets: readonly PendingSet[],
): Promise<Publication> {
  const overwrites = new Set(plan.overwrites);
  const replaces = (file: PendingFile): boolean => overwrites.has(uriOf(file));
  const files = [...filesOf(sets)];

  let foreign: PendingFile | undefined;
  const completeAll = (batch: readonly PendingFile[]): Promise<unknown> =>
    mapLimit(batch, ctx.options.completeConcurrency, async (file) => {
      if (foreign !== undefined) return;
      if ((await completeFile(ctx, file, overwrites.size === 0)) === 'foreign') foreign = file;
    });
  await completeAll(files.filter((file) => !replaces(file)));
  await completeAll(files.filter(replaces));

  if (foreign !== undefined) {
    return { result: 'foreign', uri: uriOf(foreign) };
  }
  const { value } = await facts.createOutcome({ outcome: 'published', at: isoNow(ctx.clock) });
  return value.outcome === 'published' || value.outcome === 'done'
    ? { result: 'published' }
    : { result: 'stopped' };
}
