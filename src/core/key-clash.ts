import { CommitterError } from './errors.js';
import { uriOf } from './records/attempt-record.js';
import type { StoreUri } from './uri.js';
import { sortUtf8 } from './utf8.js';

/**
 * Finds two files of one key, where the last Complete would win in silence; and a file whose key is a directory of another's: an
 * object store can hold both, a file system can't, and no reader of Hadoop finds what is below a file.
 */
export class KeyClash {
  /**
   * Keys that the last one begins with, and it. In this order of keys, all that begin with one of them follow it before any
   * other does.
   */
  readonly #prefixes: string[] = [];

  constructor(private readonly place: { readonly scheme: string; readonly bucket: string }) {}

  /**
   * Call it with every key of the bucket in the order of listings.
   *
   * @throws CommitterError DUPLICATE_KEY
   */
  add(key: string): void {
    let last = this.#prefixes.at(-1);
    while (last !== undefined && !key.startsWith(last)) {
      this.#prefixes.pop();
      last = this.#prefixes.at(-1);
    }
    if (last === key) {
      throw new CommitterError(
        'DUPLICATE_KEY',
        `two committed files have the final key ${this.#uri(key)}: make the tasks' file names differ`,
      );
    }
    // A shorter one that is a directory of this key is one of `last`, too, and was refused there.
    if (last !== undefined && key[last.length] === '/') {
      throw new CommitterError(
        'DUPLICATE_KEY',
        `${this.#uri(last)} is a committed file, and so is ${this.#uri(key)} below it: no reader would find the second one; make the tasks' file names differ`,
      );
    }
    this.#prefixes.push(key);
  }

  #uri(key: string): string {
    return uriOf({ ...this.place, key });
  }
}

/**
 * Of few files, as one task attempt has.
 *
 * @throws CommitterError DUPLICATE_KEY
 */
export function refuseDuplicateKeys(files: Iterable<StoreUri>): void {
  const byBucket = new Map<string, StoreUri[]>();
  for (const file of files) {
    const name = `${file.scheme} ${file.bucket}`;
    const found = byBucket.get(name);
    if (found === undefined) byBucket.set(name, [file]);
    else found.push(file);
  }
  for (const [first, ...others] of byBucket.values()) {
    if (first === undefined) continue;
    const clash = new KeyClash(first);
    const keys = [first, ...others].map(({ key }) => key);
    for (const key of sortUtf8(keys)) clash.add(key);
  }
}
