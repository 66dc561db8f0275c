/**
 * Items by a text of theirs that few share. It makes no text of its own: of a job with a million files an index takes
 * some tens of MB, and names that are put together would take hundreds.
 */
export class ItemIndex<T extends object> {
  /** Few have a list. */
  readonly #byText = new Map<string, T | readonly T[]>();

  constructor(
    private readonly textOf: (item: T) => string,
    private readonly areSame: (a: T, b: T) => boolean,
  ) {}

  add(item: T): void {
    const text = this.textOf(item);
    const found = this.#byText.get(text);
    if (found === undefined) this.#byText.set(text, item);
    else if (!this.has(item)) this.#byText.set(text, [...listOf(found), item]);
  }

  has(item: T): boolean {
    const found = this.#byText.get(this.textOf(item));
    return found !== undefined && listOf(found).some((each) => this.areSame(each, item));
  }
}

function listOf<T extends object>(found: T | readonly T[]): readonly T[] {
  return Array.isArray(found) ? (found as readonly T[]) : [found as T];
}
