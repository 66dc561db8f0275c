import { KeyClash } from '../core/key-clash.js';
import type { StoreUri } from '../core/uri.js';
import type { ObjectStore } from '../ports/object-store.js';
import type { Roots } from './roots.js';
import { SortedKeys } from './sorted-keys.js';

/** Final keys in one bucket of one store. */
export interface KeysOfBucket {
  readonly store: ObjectStore;
  readonly scheme: string;
  readonly bucket: string;
  readonly keys: SortedKeys;
}

export interface BlockOfKeys {
  readonly scheme: string;
  readonly bucket: string;
  readonly keys: readonly string[];
}

/** The final keys of all files of a job. */
export class OutputKeys {
  /** Few jobs have more than one. */
  readonly #buckets: KeysOfBucket[] = [];

  constructor(private readonly roots: Pick<Roots, 'storeOf'>) {}

  get buckets(): readonly KeysOfBucket[] {
    return this.#buckets;
  }

  add(file: StoreUri): void {
    const { scheme, bucket, key } = file;
    // Two stores may have buckets of one name.
    const store = this.roots.storeOf(file);
    let found = this.#buckets.find(
      (each) => each.bucket === bucket && each.scheme === scheme && each.store === store,
    );
    if (found === undefined) this.#buckets.push((found = { store, scheme, bucket, keys: new SortedKeys() }));
    found.keys.add(key);
  }

  /** Of each bucket in the order of its listings. */
  async *blocks(): AsyncGenerator<BlockOfKeys> {
    for (const { scheme, bucket, keys } of this.#buckets)
      for await (const block of keys.blocks()) yield { scheme, bucket, keys: block };
  }

  /** @throws CommitterError DUPLICATE_KEY */
  async refuseClashes(): Promise<void> {
    for (const { scheme, bucket, keys } of this.#buckets) {
      const clash = new KeyClash({ scheme, bucket });
      for await (const block of keys.blocks()) for (const key of block) clash.add(key);
    }
  }
}
