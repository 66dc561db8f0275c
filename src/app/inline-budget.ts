import type { PendingSet } from '../core/records/attempt-record.js';
import { withoutContent } from './files-of.js';

const maxHeldBytes = 64 * 1024 * 1024;

/** Keeps the bytes of inline files in memory as long as they are few; publication reads the others from their claims. */
export class InlineBudget {
  #heldBytes = 0;

  take(set: PendingSet): PendingSet {
    if (set.inline.length === 0) return set;
    const bytes = set.inline.reduce((sum, file) => sum + (file.content?.length ?? 0), 0);
    if (this.#heldBytes + bytes <= maxHeldBytes) {
      this.#heldBytes += bytes;
      return set;
    }
    return withoutContent(set);
  }
}
