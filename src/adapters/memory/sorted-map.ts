/** A map whose entries are walked in the order of their keys. Made for listings: a page costs what it holds. */
export class SortedMap<K, V> {
  private readonly keys: K[] = [];
  private readonly values: V[] = [];

  constructor(private readonly compare: (a: K, b: K) => number) {}

  get(key: K): V | undefined {
    const at = this.firstAtOrAfter(key);
    return this.has(at, key) ? this.values[at] : undefined;
  }

  set(key: K, value: V): void {
    const at = this.firstAtOrAfter(key);
    if (this.has(at, key)) {
      this.values[at] = value;
      return;
    }
    this.keys.splice(at, 0, key);
    this.values.splice(at, 0, value);
  }

  delete(key: K): boolean {
    const at = this.firstAtOrAfter(key);
    if (!this.has(at, key)) return false;
    this.keys.splice(at, 1);
    this.values.splice(at, 1);
    return true;
  }

  /** Entries from that key on, itself included; all without one. Nothing may change the map meanwhile. */
  *from(key?: K): Generator<readonly [K, V]> {
    const start = key === undefined ? 0 : this.firstAtOrAfter(key);
    for (let at = start; at < this.keys.length; at += 1) {
      yield [this.keys[at] as K, this.values[at] as V];
    }
  }

  private has(at: number, key: K): boolean {
    return at < this.keys.length && this.compare(this.keys[at] as K, key) === 0;
  }

  private firstAtOrAfter(key: K): number {
    let low = 0;
    let high = this.keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(this.keys[middle] as K, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
