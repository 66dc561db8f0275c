import type { AttemptRecord, UploadIdentity } from './records/attempt-record.js';
import { uploadsIn } from './records/attempt-record.js';
import { ItemIndex } from './item-index.js';

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
  winning: Pick<UploadIndex, 'has'>,
): UploadIdentity[] {
  const found = new Map<string, UploadIdentity>();
  const add = (upload: UploadIdentity): void => {
    if (!winning.has(upload)) found.set(uploadName(upload), upload);
  };
  for (const record of records) uploadsIn(record).forEach(add);
  for (const upload of ledger) add(upload);
  return [...found.values()];
}

export type UploadIndex = ItemIndex<UploadIdentity>;

/** By their ids, which two stores may share. */
export function uploadIndex(): UploadIndex {
  return new ItemIndex(
    ({ uploadId }) => uploadId,
    (a, b) => a.key === b.key && a.bucket === b.bucket && a.scheme === b.scheme,
  );
}

/** Stores promise an upload id for one key only. */
export function uploadName(upload: UploadIdentity): string {
  return `${upload.scheme}://${upload.bucket}/${upload.key}?${upload.uploadId}`;
}
