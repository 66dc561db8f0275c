import { CommitterError } from '../core/errors.js';
import { parseSetupId } from '../core/ids.js';
import { setupFingerprint, type JobOptions, type JobRecord } from '../core/records/job-record.js';
import { successMarkerName } from '../core/records/success-marker.js';
import { parseJobAttempts, tokenPrefix } from '../core/staging-layout.js';
import { formatUri, isWithin, joinKey, parseUri, quote } from '../core/uri.js';
import { isStoreError, type ObjectHead } from '../ports/object-store.js';
import { inTime, isoNow, protocolVersion, type AppContext } from './context.js';
import { deleteAfterLook } from './fence.js';
import { readState } from './deciding.js';
import { factsOf, refuseOthersJob, type Job, type JobAddress, type JobRef } from './job-directory.js';
import { listPrefixes } from './list-all.js';
import type { Roots } from './roots.js';
import { refuseUsedToken } from './refuse-used-token.js';
import { settleLowerAttempts } from './settle-lower-attempts.js';

export interface SetupJobInput {
  readonly job: JobRef;
  readonly setupId: string;
  readonly options: JobOptions;
  readonly description: string;
  readonly protocolVersion: number;
}

export async function setupJob(
  ctx: AppContext,
  input: SetupJobInput,
  principal: string,
): Promise<{ token: string }> {
  const address = ctx.jobs.address(input.job, principal);
  const setupId = parseSetupId(input.setupId);
  refuseUnsupported(address, input);
  checkConflictPaths(ctx.roots, address, input.options, principal);
  const [token] = address.tokens;
  if (token === undefined || address.tokens.length !== 1) {
    throw new CommitterError('INVALID_FIELD', 'SetupJob takes exactly one of job.tokens');
  }
  const { root, jobAttempt } = address;
  const facts = factsOf(root, token, jobAttempt);
  const known = await knownAttempts(address);
  const destination = formatUri(address.destination);
  await refuseOthersJob(root, token, jobAttempt, { principal, destination }, known);
  if (known.includes(jobAttempt)) refuseUsedToken(token, await readState(facts));

  const adopts = await settleLowerAttempts(ctx, root, token, jobAttempt);
  // Seen before job.json is written: a marker that comes later is this job's own and is not deleted.
  const oldMarker = adopts === undefined ? await headMarker(address) : undefined;
  const record: JobRecord = {
    token,
    jobAttempt,
    destination,
    setupId,
    fingerprint: setupFingerprint(destination, input.options, input.description),
    principal,
    options: input.options,
    hmacKey: Buffer.from(ctx.random.bytes(32)).toString('base64'),
    adopts,
    description: input.description,
    createdAt: isoNow(ctx.clock),
  };
  const created = await facts.createJob(record);
  if (created.status === 'exists') {
    refuseOtherDriver(created.value, record);
    refuseUsedToken(token, await readState(facts));
  }
  if (oldMarker !== undefined && created.value.adopts === undefined)
    await deleteMarker(ctx, address, oldMarker);

  const job: Job = {
    root,
    destination: address.destination,
    token,
    jobAttempt,
    record: created.value,
    hmacKey: Buffer.from(created.value.hmacKey, 'base64'),
    facts,
  };
  ctx.jobs.remember(address, job);
  ctx.logger.info('job set up', {
    job: token,
    job_attempt: jobAttempt,
    destination,
    replay: created.status === 'exists',
  });
  return { token };
}

function refuseUnsupported({ root, jobAttempt }: JobAddress, input: SetupJobInput): void {
  if (input.protocolVersion < protocolVersion.min || input.protocolVersion > protocolVersion.max) {
    throw new CommitterError(
      'UNSUPPORTED',
      `the client speaks protocol version ${input.protocolVersion}, this daemon ${protocolVersion.min} to ${protocolVersion.max}: use a client and a daemon of one release`,
    );
  }
  if (input.options.taskRecords === 'driver' && jobAttempt > 0) {
    throw new CommitterError(
      'UNSUPPORTED',
      `job attempt ${jobAttempt} follows another: with commitbridge.task-records=driver the task records are lost with the driver, so a restarted one has nothing to recover; set it to client`,
    );
  }
  if (!root.store.capabilities.conditionalPut) {
    throw new CommitterError(
      'UNSUPPORTED',
      `the store of ${formatUri(root.uri)} cannot put conditionally, so it cannot hold staging: point roots[].staging at one that can`,
    );
  }
}

const maxConflictPaths = 1_000;

/** A directory that `replace` empties must be the caller's to empty. */
function checkConflictPaths(
  roots: Roots,
  { destination }: JobAddress,
  { conflictScope, conflictPaths, allowOtherLocations }: JobOptions,
  principal: string,
): void {
  if (conflictPaths.length > maxConflictPaths || (conflictScope !== 'paths' && conflictPaths.length > 0)) {
    throw new CommitterError(
      'INVALID_FIELD',
      `options.conflict_paths goes with CONFLICT_SCOPE_PATHS and has at most ${maxConflictPaths} entries; got ${conflictPaths.length}`,
    );
  }
  for (const path of conflictPaths) {
    const uri = parseUri(path, 'options.conflict_paths');
    roots.resolve(uri, principal);
    if (!allowOtherLocations && !isWithin(destination, uri)) {
      throw new CommitterError(
        'PATH_OUTSIDE_DESTINATION',
        `${quote(path)} is not below the job's destination`,
      );
    }
  }
}

function knownAttempts({ root, tokens: [token] }: JobAddress): Promise<number[]> {
  if (token === undefined) return Promise.resolve([]);
  const prefix = tokenPrefix(root.staging.key, token);
  return listPrefixes(root.store, root.staging.bucket, prefix).then((listed) =>
    parseJobAttempts(prefix, listed),
  );
}

function refuseOtherDriver(existing: JobRecord, asked: JobRecord): void {
  if (existing.setupId === asked.setupId && existing.fingerprint === asked.fingerprint) return;
  const why = existing.setupId === asked.setupId ? 'with other arguments' : 'by another driver';
  throw new CommitterError(
    'JOB_EXISTS',
    `job ${asked.token}, job attempt ${asked.jobAttempt}, was set up ${why} at ${existing.createdAt} for ${existing.destination}: use another commitbridge.job.token, or end that job with \`commitbridge jobs abort ${asked.token}\``,
  );
}

function markerOf({ destination }: JobAddress): { bucket: string; key: string } {
  return { bucket: destination.bucket, key: joinKey(destination.key, successMarkerName) };
}

function headMarker(address: JobAddress): Promise<ObjectHead | undefined> {
  return address.root.store.head(markerOf(address));
}

async function deleteMarker(ctx: AppContext, address: JobAddress, marker: ObjectHead): Promise<void> {
  const { store } = address.root;
  const object = markerOf(address);
  if (!store.capabilities.conditionalDelete) {
    await deleteAfterLook(store, object, async () => (await store.head(object))?.etag === marker.etag);
    return;
  }
  try {
    await store.delete(object, { ifMatch: marker.etag }, inTime(ctx));
  } catch (error) {
    // Another writer's marker came after ours was seen: it stays.
    if (!isStoreError(error, 'precondition-failed', 'not-found', 'conflict')) throw error;
  }
}
