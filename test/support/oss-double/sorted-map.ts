/** Compares as OSS sorts keys: by their UTF-8 bytes, which UTF-16 order differs from above U+D7FF. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    const [xs, ys] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff];
    return xs === ys ? x - y : xs ? 1 : -1;
  }
  return a.length - b.length;
}

const blockLimit = 512;

/** A map that is listed in the order of its keys from any key on; keys are kept in blocks, so nothing is quadratic. */
export class SortedMap<V> {
  private readonly values = new Map<string, V>();
  private readonly blocks: string[][] = [[]];

  get size(): number {
    return this.values.size;
  }

  get(key: string): V | undefined {
    return this.values.get(key);
  }

  set(key: string, value: V): void {
    if (!this.values.has(key)) this.insert(key);
    this.values.set(key, value);
  }

  delete(key: string): boolean {
    if (!this.values.delete(key)) return false;
    const block = this.blockOf(key);
    const keys = this.blocks[block]!;
    keys.splice(position(keys, key), 1);
    if (keys.length === 0 && this.blocks.length > 1) this.blocks.splice(block, 1);
    return true;
  }

  /** From the first key that is `from` or after it. */
  *entriesFrom(from: string): Generator<readonly [string, V]> {
    let block = this.blockOf(from);
    let at = position(this.blocks[block]!, from);
    for (; block < this.blocks.length; block++, at = 0) {
      const keys = this.blocks[block]!;
      for (; at < keys.length; at++) yield [keys[at]!, this.values.get(keys[at]!)!];
    }
  }

  private insert(key: string): void {
    const block = this.blockOf(key);
    const keys = this.blocks[block]!;
    keys.splice(position(keys, key), 0, key);
    if (keys.length > blockLimit) this.blocks.splice(block + 1, 0, keys.splice(blockLimit / 2));
  }

  /** The last block that begins at or before the key. */
  private blockOf(key: string): number {
    let [low, high] = [0, this.blocks.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (compareUtf8(this.blocks[middle]![0]!, key) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Of the first key that isn't before `key`. */
function position(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareUtf8(keys[middle]!, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
