import type { PendingFile, PendingSet } from '../core/records/attempt-record.js';

export function* filesOf(sets: readonly PendingSet[]): Generator<PendingFile> {
  for (const set of sets) yield* set.files;
}
