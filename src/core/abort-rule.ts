import type { AttemptRecord, UploadIdentity } from './records/attempt-record.js';
import { uploadsIn } from './records/attempt-record.js';
import { TextSet } from './text-set.js';

/**
 * Before the decision: the uploads of an attempt whose tombstone was *created*, so that no commitTask of it can
 * ever be listed, and that no lower job attempt has a pendingset of. A tombstone that overwrote a pendingset is
 * not enough: a commit that read the pendingset just before may list it yet.
 */
export function abortableBeforeDecision(
  record: AttemptRecord | undefined,
  lowerPendingSetExists: boolean,
): readonly UploadIdentity[] {
  if (record?.kind !== 'tombstone' || record.replaced !== undefined || lowerPendingSetExists) return [];
  return record.named;
}

/** After the decision: everything that the deciding attempt does not publish. */
export function losers(
  records: Iterable<AttemptRecord>,
  ledger: Iterable<UploadIdentity>,
  winning: Pick<UploadSet, 'has'>,
): UploadIdentity[] {
  const found = new Map<string, UploadIdentity>();
  const add = (upload: UploadIdentity): void => {
    if (!winning.has(upload)) found.set(uploadName(upload), upload);
  };
  for (const record of records) uploadsIn(record).forEach(add);
  for (const upload of ledger) add(upload);
  return [...found.values()];
}

/** Uploads that a decision publishes; one that it doesn't is taken for one as rarely as {@link TextSet} says, and left. */
export class UploadSet {
  readonly #names = new TextSet();

  add(upload: UploadIdentity): void {
    this.#names.add(uploadName(upload));
  }

  has(upload: UploadIdentity): boolean {
    return this.#names.has(uploadName(upload));
  }
}

/** Stores promise an upload id for one key only. */
export function uploadName(upload: UploadIdentity): string {
  return `${upload.scheme}://${upload.bucket}/${upload.key}?${upload.uploadId}`;
}
