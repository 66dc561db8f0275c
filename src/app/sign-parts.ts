import { CommitterError } from '../core/errors.js';
import { PartPlan } from '../core/part-planning.js';
import { formatUri, type StoreUri } from '../core/uri.js';
import type { ObjectStore, UploadRef } from '../ports/object-store.js';
import { parseAttempt, type AttemptRef } from './attempt-ref.js';
import { batchLimits, type AppContext } from './context.js';
import { parseFile, type FileRef } from './file-ref.js';
import type { JobRef } from './job-directory.js';
import { mapLimit } from './map-limit.js';

export interface SignedPart {
  readonly partNumber: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What this part must have, but for the last of the file. */
  readonly sizeBytes: number;
  readonly expiresAtMs: number;
}

export interface SignPartsInput {
  readonly job: JobRef;
  readonly attempt: AttemptRef;
  readonly file: FileRef;
  readonly firstPartNumber: number;
  readonly count: number;
}

export async function signMoreParts(
  ctx: AppContext,
  input: SignPartsInput,
  principal: string,
): Promise<readonly SignedPart[]> {
  const attempt = parseAttempt(input.attempt);
  const job = await ctx.jobs.find(input.job, principal);
  const upload = parseFile(ctx.roots, job, attempt, input.file);
  const store = ctx.roots.storeOf(upload);
  refuseWithoutPresign(upload, store);
  const { firstPartNumber, count } = input;
  if (firstPartNumber < 1 || count < 1 || count > batchLimits.maxSignedParts) {
    throw new CommitterError(
      'INVALID_FIELD',
      `first_part_number must be at least 1 and count 1 to ${batchLimits.maxSignedParts}; got ${firstPartNumber} and ${count}`,
    );
  }
  const { maxParts } = store.capabilities;
  if (firstPartNumber > maxParts) {
    throw new CommitterError(
      'INVALID_FIELD',
      `the store takes ${maxParts} parts a file: ${input.file.uri} is too long for it`,
    );
  }
  const plan = new PartPlan(store.capabilities, ctx.options.firstPartBytes);
  return signParts(
    ctx,
    store,
    plan,
    upload,
    firstPartNumber,
    Math.min(count, maxParts - firstPartNumber + 1),
  );
}

export function signParts(
  ctx: AppContext,
  store: ObjectStore,
  plan: PartPlan,
  upload: UploadRef,
  first: number,
  count: number,
): Promise<SignedPart[]> {
  const numbers = Array.from({ length: count }, (_, index) => first + index);
  return mapLimit(numbers, 16, async (partNumber) => {
    const { url, headers, expiresAtMs } = await store.presignPart(
      upload,
      partNumber,
      ctx.options.signedUrlSeconds,
    );
    return { partNumber, url, headers, sizeBytes: plan.sizeOf(partNumber), expiresAtMs };
  });
}

export function refuseWithoutPresign(place: StoreUri, store: ObjectStore): void {
  if (store.capabilities.presign) return;
  throw new CommitterError(
    'UNSUPPORTED',
    `the store of ${formatUri(place)} cannot sign part URLs, which the data plane \`direct\` needs: see commitbridge.data-plane`,
  );
}
