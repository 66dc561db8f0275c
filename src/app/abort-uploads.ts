import type { UploadIdentity } from '../core/records/attempt-record.js';
import type { AppContext } from './context.js';
import { mapLimit } from './map-limit.js';

/** Whether this is allowed is the abort rule's: see `src/core/abort-rule.ts`. */
export async function abortUploads(
  ctx: Pick<AppContext, 'roots' | 'options'>,
  uploads: readonly UploadIdentity[],
): Promise<void> {
  await mapLimit(uploads, ctx.options.recordConcurrency, (upload) => ctx.roots.storeOf(upload).abort(upload));
}
