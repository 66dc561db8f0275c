import type { OutputFile, PendingFile, PendingSet } from '../core/records/attempt-record.js';

/** The uploads of these attempts. */
export function* filesOf(sets: readonly PendingSet[]): Generator<PendingFile> {
  for (const set of sets) yield* set.files;
}

/** Every final object of these attempts. */
export function* outputsOf(sets: readonly PendingSet[]): Generator<OutputFile> {
  for (const set of sets) {
    yield* set.files;
    yield* set.inline;
  }
}

export function fileCount(set: PendingSet): number {
  return set.files.length + set.inline.length;
}

export function byteCount(set: PendingSet): number {
  let bytes = 0;
  for (const { lengthBytes } of outputsOf([set])) bytes += lengthBytes;
  return bytes;
}

/** For those who look for uploads. */
export function withoutContent(set: PendingSet): PendingSet {
  return set.inline.length === 0
    ? set
    : { ...set, inline: set.inline.map((file) => ({ ...file, content: undefined })) };
}
