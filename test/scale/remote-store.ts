import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { MEMORY_CAPABILITIES } from '../../src/adapters/memory/memory-options.js';
import { StoreError, type ObjectStore, type StoreErrorKind } from '../../src/ports/object-store.js';

interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly kind: StoreErrorKind; readonly message: string };
}

/** A memory store in a process of its own: the limit of the heap and what is measured are the engine's alone. */
export function startRemoteStore(buckets: readonly string[]): {
  store: ObjectStore;
  /** Calls so far. */
  sent(): number;
  stop(): Promise<void>;
} {
  const child = fork(fileURLToPath(new URL('./store-process.ts', import.meta.url)), buckets, {
    execArgv: ['--max-old-space-size=4096', '--import', 'tsx'],
    serialization: 'advanced',
  });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let nextId = 0;
  child.on('message', ({ id, value, error }: Reply) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new StoreError(error.kind, error.message));
  });
  const send = (name: string, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = nextId++;
      waiting.set(id, { resolve, reject });
      child.send({ id, name, args });
    });
  const capabilities = { ...MEMORY_CAPABILITIES, minPartBytes: 1 };
  const store = new Proxy({} as ObjectStore, {
    get: (_, name) =>
      name === 'capabilities' ? capabilities : (...args: unknown[]) => send(String(name), args),
  });
  const stop = async (): Promise<void> => {
    const gone = once(child, 'exit');
    child.kill();
    await gone;
  };
  return { store, sent: () => nextId, stop };
}
