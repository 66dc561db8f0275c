import { compareUtf8 } from '../core/utf8.js';
import type { ObjectStore } from '../ports/object-store.js';
import type { SortedKeys } from './sorted-keys.js';

/** What a page of a listing tells. */
interface Page {
  readonly keys: ReadonlySet<string>;
  /** Its last entry; `undefined` where it is the end of the listing, and every key is settled. */
  readonly upTo: string | undefined;
}

/**
 * Which of these keys hold an object. It walks the listing and the sorted keys side by side: each page settles
 * every key up to its last entry, and the next page starts just before the first key that is left, so that a
 * destination full of other objects costs no more pages than there are keys.
 */
export async function existingKeys(
  store: ObjectStore,
  bucket: string,
  keys: Pick<SortedKeys, 'blocks' | 'commonPrefix' | 'size'>,
): Promise<string[]> {
  const existing: string[] = [];
  let page: Page | undefined;
  let left = keys.size;
  for await (const block of keys.blocks()) {
    for (const key of block) {
      while (page === undefined || (page.upTo !== undefined && compareUtf8(key, page.upTo) > 0)) {
        page =
          left === 1 ? await look(store, bucket, key) : await listFrom(store, bucket, keys, key, page?.upTo);
      }
      if (page.keys.has(key)) existing.push(key);
      left--;
    }
  }
  return existing;
}

/** For the last key, where no page is needed. */
async function look(store: ObjectStore, bucket: string, key: string): Promise<Page> {
  const found = await store.head({ bucket, key });
  return { keys: new Set(found === undefined ? [] : [key]), upTo: undefined };
}

async function listFrom(
  store: ObjectStore,
  bucket: string,
  { commonPrefix }: Pick<SortedKeys, 'commonPrefix'>,
  key: string,
  listedUpTo = '',
): Promise<Page> {
  const before = justBefore(key);
  const startAfter = compareUtf8(before, listedUpTo) > 0 ? before : listedUpTo;
  const { objects, next } = await store.list(bucket, commonPrefix, startAfter === '' ? {} : { startAfter });
  return {
    keys: new Set(objects.map((object) => object.key)),
    upTo: next === undefined ? undefined : objects.at(-1)?.key,
  };
}

/** A key below `key` with little between: `startAfter` excludes the key itself. */
function justBefore(key: string): string {
  return Array.from(key).slice(0, -1).join('');
}
