import { mapLimit } from '../../src/app/map-limit.js';
import type { ObjectStore } from '../../src/ports/object-store.js';

/** What an ended job leaves for its time to live, under as many tokens as asked for: copies of one that has ended. */
export async function plantEndedJobs(
  store: ObjectStore,
  bucket: string,
  staging: string,
  ended: string,
  count: number,
): Promise<number> {
  const { objects } = await store.list(bucket, `${staging}/${ended}/`, {});
  const facts = await Promise.all(
    objects.map(async ({ key }) => ({
      name: key.slice(`${staging}/${ended}/`.length),
      body: (await store.get({ bucket, key }))?.body ?? new Uint8Array(),
    })),
  );
  const tokens = Array.from({ length: count }, (_, index) => `planted-${String(index).padStart(6, '0')}`);
  await mapLimit(tokens, 32, async (token) => {
    for (const { name, body } of facts)
      await store.put({ bucket, key: `${staging}/${token}/${name}` }, body, {});
  });
  return facts.length;
}
