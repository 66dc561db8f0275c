import { expect } from 'vitest';
import type {
  CompletedPart,
  ObjectBody,
  ObjectRef,
  ObjectStore,
  StoreErrorKind,
} from '../../src/ports/object-store.js';
import { StoreError } from '../../src/ports/object-store.js';

export function bytes(text: string): Uint8Array {
  return Buffer.from(text);
}

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** An id of the same form that is another's. */
export function otherId(uploadId: string): string {
  return uploadId.replace(/[0-9a-zA-Z](?=[^0-9a-zA-Z]*$)/, (last) => (last === '0' ? '1' : '0'));
}

export function bare<T extends CompletedPart>(part: T): T {
  return { ...part, etag: part.etag.replaceAll('"', '') };
}

/** An object that must be there. */
export async function read(store: ObjectStore, object: ObjectRef): Promise<ObjectBody> {
  const found = await store.get(object);
  if (found === undefined) throw new Error(`there is no ${object.key}`);
  return found;
}

/** The kind, or a text that no kind equals. */
export function kindOf(error: unknown): string {
  return error instanceof StoreError ? error.kind : `not a StoreError: ${String(error)}`;
}

export async function expectKind(call: Promise<unknown>, kind: StoreErrorKind): Promise<void> {
  const outcome = await call.then(
    () => 'succeeded',
    (error: unknown) => (kindOf(error) === kind ? kind : `${kindOf(error)}: ${String(error)}`),
  );
  expect(outcome).toBe(kind);
}

export function ignoreKinds(...kinds: StoreErrorKind[]): (error: unknown) => void {
  return (error) => {
    if (!(kinds as string[]).includes(kindOf(error))) throw error;
  };
}

/** The index of the only success; the others failed in one of these ways. */
export function expectOneWinner(
  results: readonly PromiseSettledResult<unknown>[],
  ...kinds: readonly StoreErrorKind[]
): number {
  const winners = results.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
  const others = results.flatMap((result) => (result.status === 'rejected' ? [kindOf(result.reason)] : []));
  expect(others.filter((kind) => !(kinds as readonly string[]).includes(kind))).toEqual([]);
  expect(winners).toHaveLength(1);
  return winners[0] ?? -1;
}
