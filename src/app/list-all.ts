import type { ListedObject, ObjectStore } from '../ports/object-store.js';

/** Every object under a prefix, page by page, in key order; `isShallow`: not those behind a further slash. */
export async function* listAll(
  store: ObjectStore,
  bucket: string,
  prefix: string,
  isShallow = false,
): AsyncGenerator<ListedObject> {
  let continuation: string | undefined;
  do {
    const page = await store.list(bucket, prefix, {
      ...(isShallow ? { delimiter: '/' } : {}),
      ...(continuation === undefined ? {} : { continuation }),
    });
    yield* page.objects;
    continuation = page.next;
  } while (continuation !== undefined);
}

/** Every name one level below a prefix that ends in `/`: with its trailing slash. */
export async function listPrefixes(store: ObjectStore, bucket: string, prefix: string): Promise<string[]> {
  const found: string[] = [];
  let continuation: string | undefined;
  do {
    const page = await store.list(
      bucket,
      prefix,
      continuation === undefined ? { delimiter: '/' } : { delimiter: '/', continuation },
    );
    found.push(...page.prefixes);
    continuation = page.next;
  } while (continuation !== undefined);
  return found;
}
