import { MemoryObjectStore } from '../../src/adapters/memory/memory-object-store.js';

/** What {@link startRemoteStore} of remote-store.ts forks: calls come as messages, and answers go so. */
interface Call {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

const store = new MemoryObjectStore({ buckets: process.argv.slice(2), capabilities: { minPartBytes: 1 } });

async function answer({ name, args }: Call): Promise<unknown> {
  if (name === 'counts') return { objects: store.objects().length, uploads: store.uploads().length };
  const method = (store as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[name];
  return method?.apply(store, [...args]);
}

process.on('message', (call: Call) => {
  answer(call).then(
    (value) => process.send?.({ id: call.id, value }),
    (error: unknown) => {
      const { kind = 'invalid', message } = error as { kind?: string; message: string };
      process.send?.({ id: call.id, error: { kind, message } });
    },
  );
});
