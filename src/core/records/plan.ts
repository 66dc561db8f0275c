import { z } from 'zod';
import { canonicalJson, sha256Hex, type Json } from '../canonical-json.js';
import type { JobToken, TaskAttempt, TaskName } from '../ids.js';
import { utf8Bytes } from '../utf8.js';
import { checkShape, unreadable } from './codec.js';

/** An attempt that the decision publishes, and the record that says what its files are. */
export interface Winner {
  /** The job attempt under which the record lies. */
  readonly jobAttempt: number;
  readonly attempt: TaskAttempt;
  readonly files: number;
  readonly bytes: number;
  /** {@link pendingSetDigest} of the record. */
  readonly digest: string;
  /** The claim that holds the record, with `TASK_RECORDS_DRIVER`; otherwise it is the attempt's own. */
  readonly claim?: string | undefined;
}

/** An object that `replace` removes after publication, as it was when the plan was made. */
export interface Deletion {
  readonly scheme: string;
  readonly bucket: string;
  readonly key: string;
  readonly etag: string;
}

/** plan-HASH: immutable, written before the decision that names it. */
export interface Plan {
  readonly token: JobToken;
  readonly jobAttempt: number;
  readonly winners: readonly Winner[];
  readonly deletions: readonly Deletion[];
  /** Final keys that held an object, as URIs. */
  readonly overwrites: readonly string[];
}

const format = 'commitbridge/plan/1';
const count = z.int().nonnegative();

const headerSchema = z.object({
  format: z.literal(format),
  token: z.string(),
  jobAttempt: count,
  winners: count,
  deletions: count,
  overwrites: count,
});
const lineSchema = z.union([
  z.object({
    winner: z.object({
      jobAttempt: count,
      attempt: z.object({ task: z.string(), number: count, id: z.string() }),
      files: count,
      bytes: count,
      digest: z.string(),
      claim: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional(),
    }),
  }),
  z.object({
    deletion: z.object({ scheme: z.string(), bucket: z.string(), key: z.string(), etag: z.string() }),
  }),
  z.object({ overwrites: z.string() }),
]);

const chunkLength = 64 * 1024;

/** JSON lines, so that a plan of any size can be read as a stream. The same plan is the same bytes. */
export function encodePlan(plan: Plan): { readonly body: Uint8Array; readonly hash: string } {
  // In chunks: the text of a large plan, whole and in pieces, would take several times its size.
  const chunks: Uint8Array[] = [];
  let text = '';
  for (const line of linesOf(plan)) {
    text += `${canonicalJson(line)}\n`;
    if (text.length < chunkLength) continue;
    chunks.push(utf8Bytes(text));
    text = '';
  }
  chunks.push(utf8Bytes(text));
  const body = Buffer.concat(chunks);
  return { body, hash: sha256Hex(body) };
}

/** Their fields in the order of canonicalJson, which is quick then. */
function* linesOf({ token, jobAttempt, winners, deletions, overwrites }: Plan): Generator<Json> {
  yield {
    deletions: deletions.length,
    format,
    jobAttempt,
    overwrites: overwrites.length,
    token,
    winners: winners.length,
  };
  for (const winner of winners) {
    const { attempt, bytes, claim, digest, files, jobAttempt } = winner;
    const { id, number, task } = attempt;
    yield { winner: { attempt: { id, number, task }, bytes, claim, digest, files, jobAttempt } };
  }
  for (const { bucket, etag, key, scheme } of deletions) yield { deletion: { bucket, etag, key, scheme } };
  for (const key of overwrites) yield { overwrites: key };
}

/** Reads a plan and checks it against its hash and its own counts: a cut plan is never taken for a small one. */
export function decodePlan(body: Uint8Array, hash: string, where: string): Plan {
  if (sha256Hex(body) !== hash) throw unreadable(where, 'its content does not have the hash of its name');
  const lines = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8').split('\n');
  const header = checkShape(headerSchema, parseLine(lines[0], where), where);
  const winners: Winner[] = [];
  const deletions: Deletion[] = [];
  const overwrites: string[] = [];
  for (const text of lines.slice(1)) {
    if (text === '') continue;
    const line = checkShape(lineSchema, parseLine(text, where), where);
    if ('winner' in line) {
      const { attempt, ...rest } = line.winner;
      winners.push({ ...rest, attempt: { ...attempt, task: attempt.task as TaskName } });
    } else if ('deletion' in line) deletions.push(line.deletion);
    else overwrites.push(line.overwrites);
  }
  if (
    winners.length !== header.winners ||
    deletions.length !== header.deletions ||
    overwrites.length !== header.overwrites
  ) {
    throw unreadable(where, 'its lines are not as many as its first line says');
  }
  return { token: header.token as JobToken, jobAttempt: header.jobAttempt, winners, deletions, overwrites };
}

function parseLine(text: string | undefined, where: string): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch (cause) {
    throw unreadable(where, 'a line is not JSON', cause);
  }
}
