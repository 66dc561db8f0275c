import type { PendingSet } from '../core/records/attempt-record.js';

const maxHeldBytes = 64 * 1024 * 1024;

/** Keeps the bytes of inline files in memory as long as they are few; publication reads the others again. */
export class InlineBudget {
  #heldBytes = 0;

  take(set: PendingSet): PendingSet {
    if (set.inline.length === 0) return set;
    const bytes = set.inline.reduce((sum, file) => sum + (file.content?.length ?? 0), 0);
    if (this.#heldBytes + bytes <= maxHeldBytes) {
      this.#heldBytes += bytes;
      return set;
    }
    return { ...set, inline: set.inline.map((file) => ({ ...file, content: undefined })) };
  }
}
