import type { RootConfig } from '../config/config.js';
import { formatUri, joinKey } from '../core/uri.js';
import type { Random } from '../ports/clock.js';
import { asOneShotFact, isStoreError, type ObjectStore } from '../ports/object-store.js';

/** No job token begins with a dot, so nothing takes a probe for a job. */
export const probePrefix = '.commitbridge-check-';

export function probeKey(directory: string, random: Random): string {
  return joinKey(directory, probePrefix + Buffer.from(random.bytes(12)).toString('hex'));
}

/**
 * Puts an object into the staging root twice, if absent, and removes it. Returns why the store can't hold the state
 * of jobs, or `undefined` where it can. Throws `StoreError` where the store gave no definite answer.
 */
export async function refusesConditionalPut(
  root: RootConfig,
  store: ObjectStore,
  random: Random,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const call = signal === undefined ? {} : { signal };
  const where = `roots[${root.index}].staging (${formatUri(root.staging)})`;
  if (!store.capabilities.conditionalPut) {
    return (
      `${where} is on store ${root.store}, which is said not to put conditionally: name a staging root on another ` +
      `bucket or store, or correct stores.${root.store}.capabilities.conditionalPut.`
    );
  }
  const object = { bucket: root.staging.bucket, key: probeKey(root.staging.key, random) };
  const body = Buffer.from('Written by commitbridge to see whether this store puts conditionally.\n');
  try {
    await store.put(object, body, asOneShotFact, call);
    await store.put(object, body, asOneShotFact, call);
  } catch (error) {
    if (isStoreError(error, 'precondition-failed', 'conflict')) return undefined;
    if (isStoreError(error, 'unsupported')) {
      return `${where} is on store ${root.store}, which refuses conditional puts (${error.message}): name a staging root on a bucket that takes them.`;
    }
    throw error;
  } finally {
    await store.delete(object, {}, call).catch(() => 'left for the next look');
  }
  return (
    `${where} is on store ${root.store}, which ignores If-None-Match: two daemons could both decide. Name a staging ` +
    'root on a bucket of a store that puts conditionally.'
  );
}

/** The first root of each staging prefix: a prefix needs one look only. */
export function distinctStagings(roots: readonly RootConfig[]): RootConfig[] {
  const seen = new Map<string, RootConfig>();
  for (const root of [...roots].sort((a, b) => a.index - b.index)) {
    const key = `${root.store} ${formatUri(root.staging)}`;
    if (!seen.has(key)) seen.set(key, root);
  }
  return [...seen.values()];
}
