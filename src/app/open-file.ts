import { CommitterError } from '../core/errors.js';
import { signHandle } from '../core/handle.js';
import { PartPlan } from '../core/part-planning.js';
import { formatUri } from '../core/uri.js';
import { parseAttempt, type AttemptRef } from './attempt-ref.js';
import { batchLimits, randomHex, type AppContext } from './context.js';
import { readState } from './deciding.js';
import { checkContentType, parseFileUri, type FileRef } from './file-ref.js';
import type { JobRef } from './job-directory.js';
import { refuseUsedToken } from './refuse-used-token.js';
import { refuseWithoutPresign, signParts, type SignedPart } from './sign-parts.js';

/** The name of our entry in an upload's metadata; the object at the key carries it on. */
export const commitbridgeIdName = 'commitbridge-id';

export interface OpenFileInput {
  readonly job: JobRef;
  readonly attempt: AttemptRef;
  readonly uri: string;
  readonly partsToSign: number;
  readonly contentType: string;
}

export async function openFile(
  ctx: AppContext,
  input: OpenFileInput,
  principal: string,
): Promise<{ file: FileRef; signedParts: readonly SignedPart[] }> {
  const attempt = parseAttempt(input.attempt);
  const job = await ctx.jobs.find(input.job, principal);
  const { uri, store } = parseFileUri(ctx.roots, job, input.uri);
  refuseWithoutPresign(uri, store);
  if (input.partsToSign < 0 || input.partsToSign > batchLimits.maxSignedParts) {
    throw new CommitterError(
      'INVALID_FIELD',
      `parts_to_sign must be 0 to ${batchLimits.maxSignedParts}; got ${input.partsToSign}`,
    );
  }
  checkContentType(input.contentType);
  if (ctx.ledger.hasEnded(job)) refuseUsedToken(job.token, await readState(job.facts));

  const commitbridgeId = randomHex(ctx.random, 16);
  const uploadId = await store.initiate(uri, {
    metadata: { [commitbridgeIdName]: commitbridgeId },
    ...(input.contentType === '' ? {} : { contentType: input.contentType }),
  });
  const identity = { ...uri, uploadId, commitbridgeId };
  ctx.ledger.add(job, identity);
  const handle = signHandle(job.hmacKey, {
    token: job.token,
    jobAttempt: job.jobAttempt,
    attempt,
    ...identity,
  });
  const plan = new PartPlan(store.capabilities, ctx.options.firstPartBytes);
  const signedParts = await signParts(ctx, store, plan, identity, 1, input.partsToSign);
  const file = { uri: formatUri(uri), uploadId, commitbridgeId, handle };
  return { file, signedParts };
}
