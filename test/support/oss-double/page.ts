import { compareUtf8 } from './sorted-map.js';

/** What a listing with prefix and delimiter gives: names one by one, or folded up to the delimiter. */
export type PageItem<V> = { name: string; value: V } | { commonPrefix: string };

export interface PageRequest<V> {
  prefix: string;
  delimiter: string;
  /** Where the page before ended: names before it are left out, and what is folded into it. */
  after: string;
  /** Names to leave out that `after` alone doesn't. */
  skip: (name: string, value: V) => boolean;
  limit: number;
}

/** A page in the order of the names, and whether there is more. `walk` gives the entries from a name on. */
export function pageOf<V>(
  walk: (from: string) => Iterable<readonly [name: string, value: V]>,
  { prefix, delimiter, after, skip, limit }: PageRequest<V>,
): { items: PageItem<V>[]; truncated: boolean } {
  const items: PageItem<V>[] = [];
  let folded = after; // a name that folds into what was listed last is listed already
  // Past a common prefix the walk begins anew after it, so that a page costs what it lists, not what it folds.
  let from: string | undefined = compareUtf8(after, prefix) > 0 ? after : prefix;
  while (from !== undefined) {
    const start: string = from;
    from = undefined;
    for (const [name, value] of walk(start)) {
      if (!name.startsWith(prefix)) break;
      if (skip(name, value)) continue;
      const common = commonPrefixOf(name, prefix, delimiter);
      if (common !== undefined && common === folded) {
        const past = pastAll(common);
        if (compareUtf8(name, past) >= 0) continue;
        from = past;
        break;
      }
      if (items.length === limit) return { items, truncated: true };
      if (common === undefined) items.push({ name, value });
      else {
        items.push({ commonPrefix: common });
        folded = common;
      }
    }
  }
  return { items, truncated: false };
}

function commonPrefixOf(name: string, prefix: string, delimiter: string): string | undefined {
  if (delimiter === '') return undefined;
  const index = name.indexOf(delimiter, prefix.length);
  return index < 0 ? undefined : name.slice(0, index + delimiter.length);
}

/** Sorts after all that begin with `prefix`, but for names that go on with the last character of Unicode. */
function pastAll(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
