import { StoreError } from '../ports/object-store.js';

/** The place where a listing goes on, as a text that callers only hand back. */
export function encodeContinuation(values: readonly string[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

export function decodeContinuation(continuation: string): readonly string[] {
  try {
    return JSON.parse(Buffer.from(continuation, 'base64url').toString()) as string[];
  } catch (cause) {
    throw new StoreError('invalid', 'not a continuation of this store', { cause });
  }
}
