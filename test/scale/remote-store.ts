import { Worker } from 'node:worker_threads';
import { MEMORY_CAPABILITIES } from '../../src/adapters/memory/memory-options.js';
import { StoreError, type ObjectStore, type StoreErrorKind } from '../../src/ports/object-store.js';

interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly kind: StoreErrorKind; readonly message: string };
}

/** A memory store in a thread with a heap of its own, so that only the engine's memory counts here. */
export function startRemoteStore(buckets: readonly string[]): {
  store: ObjectStore;
  /** Calls so far. */
  sent(): number;
  stop(): Promise<number>;
} {
  const worker = new Worker(new URL('./store-thread.mjs', import.meta.url), {
    workerData: { buckets },
    resourceLimits: { maxOldGenerationSizeMb: 4_096 },
  });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let nextId = 0;
  worker.on('message', ({ id, value, error }: Reply) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new StoreError(error.kind, error.message));
  });
  const send = (name: string, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = nextId++;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, name, args });
    });
  const capabilities = { ...MEMORY_CAPABILITIES, minPartBytes: 1 };
  const store = new Proxy({} as ObjectStore, {
    get: (_, name) =>
      name === 'capabilities' ? capabilities : (...args: unknown[]) => send(String(name), args),
  });
  return { store, sent: () => nextId, stop: () => worker.terminate() };
}
