import type { ListPageOptions, ObjectPage, UploadPage, UploadPageOptions } from '../../ports/object-store.js';
import { decodeContinuation, encodeContinuation } from '../continuation.js';
import { MemoryBucket } from './memory-bucket.js';
import { compareUtf8 } from '../../core/utf8.js';

const MAX_PAGE = 1_000;

export function pageSize(wanted: number | undefined): number {
  return Math.min(Math.max(wanted ?? MAX_PAGE, 1), MAX_PAGE);
}

export function listObjects(bucket: MemoryBucket, prefix: string, page: ListPageOptions): ObjectPage {
  const limit = pageSize(page.maxKeys);
  const objects: ObjectPage['objects'][number][] = [];
  const prefixes: string[] = [];
  // Entries up to this one were on a page before; so was all that a folded prefix stands for.
  const after = page.continuation === undefined ? page.startAfter : decodeContinuation(page.continuation)[0];
  const resumed = page.continuation !== undefined;
  let last = after ?? '';
  const start = after !== undefined && compareUtf8(after, prefix) > 0 ? after : prefix;
  for (const [key, object] of bucket.objects.from(start)) {
    if (!key.startsWith(prefix)) break;
    if (after !== undefined && compareUtf8(key, after) <= 0) continue;
    const folded = foldedPrefix(key, prefix, page.delimiter);
    if (folded !== undefined && (folded === prefixes.at(-1) || (resumed && folded === after))) continue;
    if (objects.length + prefixes.length === limit)
      return { objects, prefixes, next: encodeContinuation([last]) };
    last = folded ?? key;
    if (folded !== undefined) {
      prefixes.push(folded);
    } else {
      const { etag, body, lastModifiedMs } = object;
      objects.push({ key, etag, sizeBytes: body.byteLength, lastModifiedMs });
    }
  }
  return { objects, prefixes };
}

export function listUploads(bucket: MemoryBucket, prefix: string, page: UploadPageOptions): UploadPage {
  const limit = pageSize(page.maxUploads);
  const uploads: UploadPage['uploads'][number][] = [];
  const [afterKey, afterId] = page.continuation === undefined ? [] : decodeContinuation(page.continuation);
  const after = afterKey === undefined ? undefined : ([afterKey, afterId ?? ''] as const);
  for (const [at, upload] of bucket.uploads.from(after ?? [prefix, ''])) {
    if (!upload.key.startsWith(prefix)) break;
    if (at[0] === after?.[0] && at[1] === after[1]) continue;
    if (!MemoryBucket.isListed(upload)) continue;
    const last = uploads.at(-1);
    if (last !== undefined && uploads.length === limit) {
      return { uploads, next: encodeContinuation([last.key, last.uploadId]) };
    }
    uploads.push({ key: upload.key, uploadId: upload.uploadId, initiatedMs: upload.initiatedMs });
  }
  return { uploads };
}

function foldedPrefix(key: string, prefix: string, delimiter: '/' | undefined): string | undefined {
  if (delimiter === undefined) return undefined;
  const at = key.indexOf(delimiter, prefix.length);
  return at < 0 ? undefined : key.slice(0, at + delimiter.length);
}
