import { z } from 'zod';
import { decodeJson, encodeJson } from './codec.js';

/** decision.json: created once, only if absent; it settles commit against abort against a later job attempt. */
export type Decision =
  | {
      readonly decision: 'commit';
      /** Name of the plan, the hash of its bytes. */
      readonly plan: string;
      readonly tasks: number;
      readonly files: number;
      readonly bytes: number;
      /** Final keys that held an object when the plan was made: such a publication can't be undone. */
      readonly overwrites: number;
      readonly deletions: number;
      readonly decidedAt: string;
    }
  | { readonly decision: 'abort'; readonly reason: string; readonly decidedAt: string }
  | { readonly decision: 'superseded'; readonly by: number; readonly decidedAt: string };

export type CommitDecision = Extract<Decision, { decision: 'commit' }>;

const format = 'commitbridge/decision/1';
const count = z.int().nonnegative();
const common = { format: z.literal(format), decidedAt: z.string() };

const schema = z.discriminatedUnion('decision', [
  z.object({
    ...common,
    decision: z.literal('commit'),
    plan: z.string().regex(/^[0-9a-f]{64}$/),
    tasks: count,
    files: count,
    bytes: count,
    overwrites: count,
    deletions: count,
  }),
  z.object({ ...common, decision: z.literal('abort'), reason: z.string() }),
  z.object({ ...common, decision: z.literal('superseded'), by: count }),
]);

export function encodeDecision(decision: Decision): Uint8Array {
  return encodeJson({ format, ...decision });
}

export function decodeDecision(body: Uint8Array, where: string): Decision {
  const { format: _, ...decision } = decodeJson(schema, body, where);
  return decision;
}
