import { hash } from 'node:crypto';

const fewest = 1_024;

/**
 * Texts of which only 64 bits of their SHA-256 are kept: of a million, 16 MB outside the heap instead of some hundreds in
 * it. One that was never added is taken for one that was, among n others, with a probability of n / 2^64: use it only
 * where that leaves something undone that gc does later, never to decide what is published or deleted.
 */
export class TextSet {
  /** Two words a slot, open addressing; the slot is free where both are 0. */
  #words = new Uint32Array(2 * fewest);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(text: string): void {
    const [high, low] = wordsOf(text);
    const slot = this.#find(high, low);
    if (!this.#isFree(slot)) return;
    this.#put(slot, high, low);
    if (++this.#size > this.#words.length / 4) this.#grow();
  }

  has(text: string): boolean {
    const [high, low] = wordsOf(text);
    return !this.#isFree(this.#find(high, low));
  }

  /** Where the words are, or would be put. */
  #find(high: number, low: number): number {
    const mask = this.#words.length - 1;
    for (let slot = (2 * low) & mask; ; slot = (slot + 2) & mask) {
      if (this.#isFree(slot) || (this.#words[slot] === high && this.#words[slot + 1] === low)) return slot;
    }
  }

  #isFree(slot: number): boolean {
    return this.#words[slot] === 0 && this.#words[slot + 1] === 0;
  }

  #put(slot: number, high: number, low: number): void {
    this.#words[slot] = high;
    this.#words[slot + 1] = low;
  }

  #grow(): void {
    const before = this.#words;
    this.#words = new Uint32Array(2 * before.length);
    for (let slot = 0; slot < before.length; slot += 2) {
      const high = before[slot] ?? 0;
      const low = before[slot + 1] ?? 0;
      if (high !== 0 || low !== 0) this.#put(this.#find(high, low), high, low);
    }
  }
}

/** Of the forms that Node gives a hash in, `binary` costs least. */
function wordsOf(text: string): readonly [number, number] {
  const digest = hash('sha256', text, 'binary');
  const word = (at: number): number =>
    (digest.charCodeAt(at) |
      (digest.charCodeAt(at + 1) << 8) |
      (digest.charCodeAt(at + 2) << 16) |
      (digest.charCodeAt(at + 3) << 24)) >>>
    0;
  return [word(0), word(4)];
}
