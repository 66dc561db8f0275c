import { uploadName } from '../core/abort-rule.js';
import { CommitterError } from '../core/errors.js';
import type { JobToken } from '../core/ids.js';
import { formatUri, isKeyWithin, isWithin, parseUri, type StoreUri } from '../core/uri.js';
import type { ListedUpload } from '../ports/object-store.js';
import type { AppContext } from './context.js';
import { storeNowMs } from './gc-clock.js';
import { mapLimit } from './map-limit.js';
import type { Root } from './roots.js';
import { findOwners, type UploadOwners } from './uploads-owners.js';

/** An upload that the store lists as open. */
export interface OpenUpload {
  readonly uri: string;
  readonly uploadId: string;
  readonly initiatedMs: number;
  /** By the store's clock. */
  readonly ageMs: number;
  /** The job that a record or ledger segment of ours names it in. */
  readonly token?: JobToken;
  /** That job has not ended. */
  readonly isOfRunningJob: boolean;
}

export interface UploadsQuery {
  /** URI below one of the roots. */
  readonly prefix: string;
  /** Only those opened at least this long ago. Negative: all, for tests. */
  readonly olderThanMs: number;
}

export interface AbortedUploads {
  /** Or what would be aborted. */
  readonly aborted: readonly OpenUpload[];
  /** Of jobs that have not ended: they go with their job. */
  readonly kept: readonly OpenUpload[];
}

/**
 * The open uploads under a prefix, whoever opened them. A listing shows no metadata, so it does not tell ours from
 * those of other software.
 *
 * @throws CommitterError OUTSIDE_ROOTS; UNSUPPORTED where the store lists by exact key only.
 */
export async function listOpenUploads(ctx: AppContext, query: UploadsQuery): Promise<OpenUpload[]> {
  return (await look(ctx, query)).uploads;
}

/**
 * Aborts the uploads under a prefix that are older than an age: the user names them by both, also those that no record
 * and no ledger knows. Those of jobs of ours that have not ended are spared: a commit may list them.
 *
 * @throws CommitterError as {@link listOpenUploads}; RECORD_UNREADABLE where it is not known which uploads are a job's.
 */
export async function abortOpenUploads(
  ctx: AppContext,
  query: UploadsQuery,
  dryRun: boolean,
): Promise<AbortedUploads> {
  const { place, root, uploads, owners } = await look(ctx, query);
  const [unreadable] = owners.unreadable;
  if (unreadable !== undefined) {
    throw new CommitterError(
      'RECORD_UNREADABLE',
      `a record of job ${unreadable} cannot be read, so it is not known which uploads are that job's: see the log, and end the job first`,
    );
  }
  const aborted = uploads.filter(({ isOfRunningJob }) => !isOfRunningJob);
  if (!dryRun) {
    await mapLimit(aborted, ctx.options.recordConcurrency, ({ uri, uploadId }) =>
      root.store.abort({ bucket: place.bucket, key: parseUri(uri, 'upload').key, uploadId }),
    );
  }
  return { aborted, kept: uploads.filter(({ isOfRunningJob }) => isOfRunningJob) };
}

async function look(
  ctx: AppContext,
  { prefix, olderThanMs }: UploadsQuery,
): Promise<{ place: StoreUri; root: Root; uploads: OpenUpload[]; owners: UploadOwners }> {
  const place = parseUri(prefix, '--prefix');
  const root = ctx.roots.all.find(({ uri }) => isWithin(uri, place));
  if (root === undefined) {
    throw new CommitterError(
      'OUTSIDE_ROOTS',
      `${formatUri(place)} lies in no configured root: name a prefix within one of \`roots\``,
    );
  }
  const { scheme, bucket } = place;
  const nowMs = await storeNowMs(ctx, root);
  const listed: ListedUpload[] = [];
  // Listed before the records are read: an upload whose job commits meanwhile is found in its record.
  for await (const upload of listUploadsUnder(root, place)) {
    if (upload.initiatedMs <= nowMs - olderThanMs) listed.push(upload);
  }
  const nameOf = ({ key, uploadId }: ListedUpload): string =>
    uploadName({ scheme, bucket, key, uploadId, commitbridgeId: '' });
  const owners = await findOwners(ctx, new Set(listed.map(nameOf)));
  const uploads = listed.map((upload): OpenUpload => {
    const owner = owners.byName.get(nameOf(upload));
    return {
      uri: formatUri({ scheme, bucket, key: upload.key }),
      uploadId: upload.uploadId,
      initiatedMs: upload.initiatedMs,
      ageMs: Math.max(0, nowMs - upload.initiatedMs),
      ...(owner === undefined ? {} : { token: owner.token }),
      isOfRunningJob: owner?.isRunning ?? false,
    };
  });
  return { place, root, uploads, owners };
}

/**
 * Every open upload at or below a URI, page by page.
 *
 * @throws CommitterError UNSUPPORTED
 */
export async function* listUploadsUnder(
  { store, storeName }: Root,
  place: StoreUri,
): AsyncGenerator<ListedUpload> {
  if (!store.capabilities.listUploadsByPrefix) {
    throw new CommitterError(
      'UNSUPPORTED',
      `the store ${storeName} lists open uploads by exact key only, not under ${formatUri(place)} (stores.${storeName}.capabilities.listUploadsByPrefix): let a lifecycle rule of the bucket abort what no record and no ledger knows`,
    );
  }
  let continuation: string | undefined;
  do {
    const page = await store.listUploads(
      place.bucket,
      place.key,
      continuation === undefined ? {} : { continuation },
    );
    // A prefix is text to the store; here it is a directory or a key.
    for (const upload of page.uploads) if (isKeyWithin(place.key, upload.key)) yield upload;
    continuation = page.next;
  } while (continuation !== undefined);
}
