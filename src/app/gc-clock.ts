import { joinKey } from '../core/uri.js';
import { isStoreError } from '../ports/object-store.js';
import { randomHex, type AppContext } from './context.js';
import type { Root } from './roots.js';

/** No token begins with a dot, so that nothing takes a probe for a job. */
export const clockProbePrefix = '.commitbridge-gc-';

/**
 * What the store's clock says, by the date of a small object that is put into the staging root and removed again.
 * Ages are differences of dates that this same clock gave: the clock of the machine that runs `gc`, which may be an
 * hour off, must not decide that a running job is abandoned.
 */
export async function storeNowMs(ctx: AppContext, { store, staging }: Root): Promise<number> {
  const key = joinKey(staging.key, `${clockProbePrefix}${randomHex(ctx.random, 12)}`);
  const object = { bucket: staging.bucket, key };
  await store.put(object, Buffer.from('Written by commitbridge gc to learn the time of the store.\n'), {});
  try {
    // From a listing, as the dates that it is compared with: a HEAD has whole seconds, a listing may have fractions.
    const [listed] = (await store.list(staging.bucket, key, { maxKeys: 1 })).objects;
    if (listed === undefined)
      throw new Error(`${staging.bucket}/${key} is not in a listing right after its PUT`);
    return listed.lastModifiedMs;
  } finally {
    // Left behind where this fails; a later gc takes it.
    await store.delete(object, {}).catch((error: unknown) => {
      if (!isStoreError(error)) throw error;
    });
  }
}
