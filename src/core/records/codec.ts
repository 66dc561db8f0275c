import type { z } from 'zod';
import { canonicalJson, type Json } from '../canonical-json.js';
import { CommitterError } from '../errors.js';
import { utf8Bytes } from '../utf8.js';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Parses JSON of a record and checks its shape; `where` names the object in the sentence. */
export function decodeJson<T>(schema: z.ZodType<T>, body: Uint8Array, where: string): T {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(body));
  } catch (cause) {
    throw unreadable(where, 'it is not JSON', cause);
  }
  return checkShape(schema, value, where);
}

export function checkShape<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw unreadable(where, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`, result.error);
}

export function encodeJson(value: Json): Uint8Array {
  return utf8Bytes(`${canonicalJson(value)}\n`);
}

export function unreadable(where: string, why: string, cause?: unknown): CommitterError {
  return new CommitterError('RECORD_UNREADABLE', `the record ${where} cannot be used: ${why}`, { cause });
}
