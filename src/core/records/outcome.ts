import { z } from 'zod';
import { decodeJson, encodeJson } from './codec.js';

/**
 * outcome.json: created once, only if absent, as `published` or `rollback`, which settles publication against
 * rollback; then overwritten once, by `done` or `rolled-back`.
 */
export type Outcome =
  | { readonly outcome: 'published' | 'done'; readonly at: string }
  | { readonly outcome: 'rollback' | 'rolled-back'; readonly at: string; readonly reason: string };

export type Rollback = Extract<Outcome, { outcome: 'rollback' | 'rolled-back' }>;

const format = 'commitbridge/outcome/1';
const common = { format: z.literal(format), at: z.string() };

const schema = z.discriminatedUnion('outcome', [
  z.object({ ...common, outcome: z.enum(['published', 'done']) }),
  z.object({ ...common, outcome: z.enum(['rollback', 'rolled-back']), reason: z.string() }),
]);

export function encodeOutcome(outcome: Outcome): Uint8Array {
  return encodeJson({ format, ...outcome });
}

export function decodeOutcome(body: Uint8Array, where: string): Outcome {
  const { format: _, ...outcome } = decodeJson(schema, body, where);
  return outcome;
}
