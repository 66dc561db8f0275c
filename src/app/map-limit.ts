/**
 * Runs `work` over `items`, at most `limit` at once. After the first error no further item is begun, those under
 * way are waited for, and the first error is thrown: nothing of a failed batch goes on behind its caller's back.
 */
export async function mapLimit<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const isSync = !(Symbol.asyncIterator in items);
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const results: R[] = [];
  let nextIndex = 0;
  let failure: { readonly error: unknown } | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  const take = (): IteratorResult<T> | Promise<IteratorResult<T>> => {
    if (isSync) return iterator.next();
    // One `next` at a time: async generators queue them, others need not.
    const taken = turn.then(() => iterator.next());
    turn = taken.catch(() => undefined);
    return taken;
  };

  const worker = async (): Promise<void> => {
    while (failure === undefined) {
      try {
        const next = take();
        const taken = next instanceof Promise ? await next : next;
        // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- another worker may have failed
        if (taken.done === true || failure !== undefined) return;
        const index = nextIndex++;
        results[index] = await work(taken.value, index);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, limit) }, worker));

  if (failure === undefined) return results;
  if (!isSync) await (iterator as AsyncIterator<T>).return?.();
  throw failure.error;
}

/** Both, or the first error once both have come to an end: nothing goes on behind the caller's back. */
export async function allDone<A, B>(a: A | Promise<A>, b: B | Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}
