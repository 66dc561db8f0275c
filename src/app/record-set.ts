import { TextSet } from '../core/text-set.js';

/** Records as they were read, by key and ETag. */
export class RecordSet {
  readonly #names = new TextSet();

  add(record: { readonly key: string; readonly etag: string }): void {
    this.#names.add(nameOf(record));
  }

  has(record: { readonly key: string; readonly etag: string }): boolean {
    return this.#names.has(nameOf(record));
  }
}

/** Some stores quote ETags in listings and not in GET, or the other way round. */
function nameOf({ key, etag }: { readonly key: string; readonly etag: string }): string {
  return `${key} ${etag.replaceAll('"', '')}`;
}
