import { parentPort, workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
const { MemoryObjectStore } = await import('../../src/adapters/memory/memory-object-store.ts');
const store = new MemoryObjectStore({ buckets: workerData.buckets, capabilities: { minPartBytes: 1 } });
parentPort.on('message', async ({ id, name, args }) => {
  try {
    const value =
      name === 'counts'
        ? { objects: store.objects().length, uploads: store.uploads().length }
        : await store[name](...args);
    parentPort.postMessage({ id, value });
  } catch (error) {
    parentPort.postMessage({
      id,
      error: { kind: error.kind ?? 'invalid', message: String(error.message ?? error) },
    });
  }
});
