import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TaskAttempt, JobToken } from './ids.js';

/** What the handle of a file vouches for. */
export interface HandleClaims {
  readonly token: JobToken;
  readonly jobAttempt: number;
  readonly attempt: TaskAttempt;
  readonly scheme: string;
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
  readonly commitbridgeId: string;
}

const domain = 'commitbridge-handle-1';

/**
 * HMAC-SHA256 under the key in job.json: a client that holds one got it from OpenFile of this job and attempt,
 * so that nobody makes the daemon complete or abort a foreign upload.
 */
export function signHandle(hmacKey: Uint8Array, claims: HandleClaims): Uint8Array {
  const hmac = createHmac('sha256', hmacKey);
  const fields = [
    domain,
    claims.token,
    String(claims.jobAttempt),
    claims.attempt.task,
    String(claims.attempt.number),
    claims.attempt.id,
    claims.scheme,
    claims.bucket,
    claims.key,
    claims.uploadId,
    claims.commitbridgeId,
  ];
  // Length before text: no two lists of fields give the same bytes.
  for (const field of fields) hmac.update(`${Buffer.byteLength(field)}:`).update(field);
  return hmac.digest();
}

export function verifyHandle(hmacKey: Uint8Array, claims: HandleClaims, handle: Uint8Array): boolean {
  const expected = signHandle(hmacKey, claims);
  return handle.length === expected.length && timingSafeEqual(expected, handle);
}

const pendingsetDomain = 'commitbridge-pendingset-1';

/**
 * A pendingset that travels with the driver: what commitTask validated, with an HMAC under the key in job.json before
 * it. Names of the job and its attempt are in the record; the key is one job attempt's.
 */
export function sealPendingset(hmacKey: Uint8Array, record: Uint8Array): Uint8Array {
  return Buffer.concat([signPendingset(hmacKey, record), record]);
}

/** The record in it; `undefined` where nobody with this key sealed it. */
export function openPendingset(hmacKey: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
  const signature = sealed.subarray(0, signatureBytes);
  const record = sealed.subarray(signatureBytes);
  if (signature.length !== signatureBytes) return undefined;
  return timingSafeEqual(signPendingset(hmacKey, record), signature) ? record : undefined;
}

const signatureBytes = 32;

function signPendingset(hmacKey: Uint8Array, record: Uint8Array): Uint8Array {
  const { length } = pendingsetDomain;
  return createHmac('sha256', hmacKey).update(`${length}:${pendingsetDomain}`).update(record).digest();
}
