import {
  isStoreError,
  type ObjectRef,
  type ObjectStore,
  type PutOptions,
  type PutResult,
} from '../ports/object-store.js';

/**
 * Requests that aren't one-shot and that a store can't tie to what was seen: they are signed first, then comes the look
 * that allows them, then they are sent, and the store refuses one that comes later than this after it was signed.
 */
export const fenceSeconds = 30;
const maxLate = 3;

/**
 * The refusal may be that of an expired signature, or of credentials that ended after they had signed: sign and look
 * again. A denial that repeats itself is one.
 */
export function isTooLate(error: unknown, tries: number): boolean {
  return tries < maxLate && isStoreError(error, 'access-denied', 'expired-credentials');
}

/** Sends a put that was signed before. */
export type SendPut = (body: Uint8Array) => Promise<PutResult>;

/** A put that is sent later, by the function returned. */
export async function signPut(store: ObjectStore, object: ObjectRef, options: PutOptions): Promise<SendPut> {
  if (!store.capabilities.presign)
    return (body) => store.put(object, body, options, { withinMs: fenceSeconds * 1_000 });
  const prepared = await store.preparePut(object, options, fenceSeconds);
  return (body) => store.sendPut(prepared, body);
}

/** A delete that is sent later, by the function returned. */
export async function signDelete(
  store: ObjectStore,
  object: ObjectRef,
): Promise<() => Promise<'deleted' | 'absent'>> {
  if (!store.capabilities.presign) return () => store.delete(object, {}, { withinMs: fenceSeconds * 1_000 });
  const prepared = await store.prepareDelete(object, fenceSeconds);
  return () => store.sendDelete(prepared);
}

export async function signLookSend<S, T>(
  sign: () => Promise<S>,
  look: () => Promise<boolean>,
  send: (signed: S) => Promise<T>,
): Promise<T | 'unwanted'> {
  for (let tries = 1; ; tries++) {
    const signed = await sign();
    if (!(await look())) return 'unwanted';
    try {
      return await send(signed);
    } catch (error) {
      if (!isTooLate(error, tries)) throw error;
    }
  }
}

/** A delete for stores that can't delete by ETag: the look says whether the object is still the one to be deleted. */
export function deleteAfterLook(
  store: ObjectStore,
  object: ObjectRef,
  look: () => Promise<boolean>,
): Promise<'deleted' | 'absent' | 'unwanted'> {
  return signLookSend(
    () => signDelete(store, object),
    look,
    (send) => send(),
  );
}
