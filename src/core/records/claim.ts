import { z } from 'zod';
import { canonicalJson, sha256Hex } from '../canonical-json.js';
import type { JobToken } from '../ids.js';
import { utf8Bytes } from '../utf8.js';
import { decodeAttemptRecord, type PendingSet } from './attempt-record.js';
import { decodeJson, unreadable } from './codec.js';

const format = 'commitbridge/claim/1';

const headerSchema = z.object({
  format: z.literal(format),
  token: z.string(),
  jobAttempt: z.int().nonnegative(),
  pendingsets: z.int().positive(),
});

export interface Claim {
  readonly token: JobToken;
  readonly jobAttempt: number;
  readonly sets: readonly PendingSet[];
}

/**
 * claims/HASH: pendingsets that a driver handed over, written before any decision that lists them. A line each, as
 * commitTask made it: the same pendingsets are the same bytes, so that a repeated call writes nothing new.
 */
export function encodeClaim(
  token: JobToken,
  jobAttempt: number,
  pendingsets: readonly Uint8Array[],
): { readonly body: Uint8Array; readonly hash: string } {
  const header = utf8Bytes(
    `${canonicalJson({ format, token, jobAttempt, pendingsets: pendingsets.length })}\n`,
  );
  const body = Buffer.concat([header, ...pendingsets]);
  return { body, hash: sha256Hex(body) };
}

/** Reads a claim and checks it against its hash: one that was cut or altered is never taken for a small one. */
export function decodeClaim(body: Uint8Array, hash: string, where: string): Claim {
  if (sha256Hex(body) !== hash) throw unreadable(where, 'its content does not have the hash of its name');
  const sets: PendingSet[] = [];
  let header: z.infer<typeof headerSchema> | undefined;
  for (const line of linesOf(body)) {
    if (header === undefined) {
      header = decodeJson(headerSchema, line, where);
      continue;
    }
    const record = decodeAttemptRecord(line, where);
    if (record.kind !== 'pendingset') throw unreadable(where, 'a line is no pendingset');
    sets.push(record);
  }
  if (header?.pendingsets !== sets.length) {
    throw unreadable(where, 'its lines are not as many as its first line says');
  }
  return { token: header.token as JobToken, jobAttempt: header.jobAttempt, sets };
}

function* linesOf(body: Uint8Array): Generator<Uint8Array> {
  const newline = 0x0a;
  let start = 0;
  for (let end = body.indexOf(newline); end !== -1; end = body.indexOf(newline, start)) {
    yield body.subarray(start, end);
    start = end + 1;
  }
  if (start < body.length) yield body.subarray(start);
}
