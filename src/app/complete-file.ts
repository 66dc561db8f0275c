import { CommitterError } from '../core/errors.js';
import { uriOf, type PendingFile } from '../core/records/attempt-record.js';
import { isStoreError, type ObjectHead } from '../ports/object-store.js';
import { patiently, type AppContext } from './context.js';
import { sameEtag } from './load-records.js';
import { commitbridgeIdName } from './open-file.js';

const maxConflicts = 5;

/** Whether a Complete is limited to an absent key: not, where it can be, or only where that costs nothing. */
export type AskForAbsence = 'no' | 'must' | 'cheaply';

/**
 * Completes one upload and settles every ambiguous answer by a HEAD: an object that carries the upload's
 * commitbridge-id came from it, whatever the reply was.
 *
 * @returns `foreign` where a conditional Complete met another writer's object.
 * @throws CommitterError FOREIGN_OBJECT where the upload is gone and the object isn't ours.
 */
export async function completeFile(
  ctx: AppContext,
  file: PendingFile,
  absence: AskForAbsence,
  replaces = false,
): Promise<'published' | 'foreign'> {
  const store = ctx.roots.storeOf(file);
  const patience = patiently(ctx);
  const { conditionalComplete, dearConditionalComplete } = store.capabilities;
  const isWorthIt = absence === 'must' || (absence === 'cheaply' && !dearConditionalComplete);
  const conditional = isWorthIt && conditionalComplete;
  const parts = file.etags.map((etag, index) => ({ partNumber: index + 1, etag }));
  // versitygw answers 200 to a Complete of an upload that is gone, with the ETag of the object that is there.
  const before = replaces && !conditional ? await store.head(file, patience) : undefined;
  if (isOurs(before, file)) return 'published';
  for (let tries = 1; ; tries++) {
    try {
      const { etag } = await store.complete(file, parts, conditional ? { ifNoneMatch: '*' } : {}, patience);
      if (before === undefined || !sameEtag(before.etag, etag)) return 'published';
      const found = await store.head(file, patience);
      if (isOurs(found, file)) return 'published';
      throw lost(file, true, undefined);
    } catch (error) {
      // Overlapping Completes of one upload answer 404 or 400 on some stores though the object is right.
      if (
        !isStoreError(
          error,
          'no-such-upload',
          'not-found',
          'precondition-failed',
          'conflict',
          'invalid-parts',
          'invalid',
        )
      ) {
        throw error;
      }
      const found = await store.head(file, patience);
      if (isOurs(found, file)) return 'published';
      if (!isStoreError(error, 'precondition-failed', 'conflict'))
        throw lost(file, found !== undefined, error);
      if (found !== undefined && conditional) return 'foreign';
      // 409, or the object that stood there is gone again: the upload may still be there.
      if (tries === maxConflicts) throw error;
      await ctx.clock.sleep(50 * 2 ** tries * (0.5 + ctx.random.fraction() / 2));
    }
  }
}

function isOurs(found: ObjectHead | undefined, file: PendingFile): boolean {
  return found?.metadata[commitbridgeIdName] === file.commitbridgeId;
}

function lost(file: PendingFile, isReplaced: boolean, cause: unknown): CommitterError {
  const uri = uriOf(file);
  if (isStoreError(cause, 'invalid-parts', 'invalid')) {
    return new CommitterError(
      'FOREIGN_OBJECT',
      `the store refuses to make ${uri} of the parts that its task attempt named: ${cause.message}; roll the job back with \`commitbridge jobs abort\``,
      { cause },
    );
  }
  const what = isReplaced ? 'the object there is another writer’s' : 'there is no object there';
  return new CommitterError(
    'FOREIGN_OBJECT',
    `the upload ${file.uploadId} of ${uri} is gone and ${what}: it was aborted from outside (a lifecycle rule, another tool), or replaced; roll the job back with \`commitbridge jobs abort\``,
    { cause },
  );
}
