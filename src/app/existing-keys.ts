import { compareUtf8 } from '../core/utf8.js';
import type { ObjectStore } from '../ports/object-store.js';

/**
 * Which of these keys hold an object. It walks the listing and the sorted keys side by side: each page settles
 * every key up to its last entry, and the next page starts just before the first key that is left, so that a
 * destination full of other objects costs no more pages than there are keys.
 */
export async function existingKeys(
  store: ObjectStore,
  bucket: string,
  keys: readonly string[],
): Promise<Set<string>> {
  const wanted = [...keys].sort(compareUtf8);
  const existing = new Set<string>();
  const prefix = commonPrefix(wanted[0] ?? '', wanted.at(-1) ?? '');
  let next = 0;
  let listedUpTo = '';
  while (next < wanted.length) {
    const key = wanted[next] ?? '';
    if (next === wanted.length - 1) {
      if ((await store.head({ bucket, key })) !== undefined) existing.add(key);
      break;
    }
    const before = justBefore(key);
    const startAfter = compareUtf8(before, listedUpTo) > 0 ? before : listedUpTo;
    const page = await store.list(bucket, prefix, startAfter === '' ? {} : { startAfter });
    const listed = new Set(page.objects.map((object) => object.key));
    const last = page.objects.at(-1)?.key;
    const isEnd = page.next === undefined || last === undefined;
    listedUpTo = last ?? listedUpTo;
    while (next < wanted.length) {
      const candidate = wanted[next] ?? '';
      if (!isEnd && compareUtf8(candidate, last) > 0) break;
      if (listed.has(candidate)) existing.add(candidate);
      next++;
    }
  }
  return existing;
}

/** A key below `key` with little between: `startAfter` excludes the key itself. */
function justBefore(key: string): string {
  return Array.from(key).slice(0, -1).join('');
}

function commonPrefix(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  // Not within a surrogate pair, which has no UTF-8 of its own.
  if (length > 0 && /[\ud800-\udbff]/.test(a[length - 1] ?? '')) length--;
  return a.slice(0, length);
}
