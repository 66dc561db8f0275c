import { CommitterError, isCommitterError } from '../core/errors.js';
import { formatUri, isKeyWithin, isWithin, type StoreUri } from '../core/uri.js';
import type { ObjectStore } from '../ports/object-store.js';

/** A URI prefix that the configuration opens for output. */
export interface Root {
  readonly uri: StoreUri;
  /** Name under `stores` in the configuration. */
  readonly storeName: string;
  readonly store: ObjectStore;
  readonly staging: { readonly bucket: string; readonly key: string };
  /** Who may use it; none named: everybody whom the daemon lets in. */
  readonly principals: readonly string[];
  /** `exclusive`: nobody but the daemon's jobs opens uploads there, one job at a time for each destination. */
  readonly listing?: 'never' | 'exclusive';
}

/** Finds the root of a URI: the longest one that holds it. */
export class Roots {
  readonly #roots: readonly Root[];

  constructor(roots: readonly Root[]) {
    this.#roots = [...roots].sort((a, b) => b.uri.key.length - a.uri.key.length);
  }

  get all(): readonly Root[] {
    return this.#roots;
  }

  /** Name of that store in the configuration: tells two stores apart. */
  storeNameOf(place: StoreUri): string {
    return this.#find(place).storeName;
  }

  /** The store of an upload or object that a record names, whoever the caller is. */
  storeOf(place: StoreUri): ObjectStore {
    return this.#find(place).store;
  }

  /** False where {@link resolve} would refuse it. */
  mayUse(uri: StoreUri, principal: string): boolean {
    try {
      this.resolve(uri, principal);
      return true;
    } catch (error) {
      if (isCommitterError(error, 'OUTSIDE_ROOTS', 'PRINCIPAL_NOT_ALLOWED')) return false;
      throw error;
    }
  }

  /** True where it lies in the staging root of any root: state of jobs, never output. */
  isStaging(uri: StoreUri): boolean {
    return this.#roots.some(
      ({ uri: { scheme }, staging }) =>
        scheme === uri.scheme && staging.bucket === uri.bucket && isKeyWithin(staging.key, uri.key),
    );
  }

  #find(uri: StoreUri): Root {
    const root = this.#roots.find((candidate) => isWithin(candidate.uri, uri));
    if (root !== undefined) return root;
    throw new CommitterError(
      'OUTSIDE_ROOTS',
      `${formatUri(uri)} lies in no configured root: add one to \`roots\` in the daemon's configuration`,
    );
  }

  /**
   * @throws CommitterError OUTSIDE_ROOTS where no root holds it, or it lies in a staging root;
   *   PRINCIPAL_NOT_ALLOWED where the root is not the caller's.
   */
  resolve(uri: StoreUri, principal: string): Root {
    const root = this.#find(uri);
    if (this.isStaging(uri)) {
      throw new CommitterError(
        'OUTSIDE_ROOTS',
        `${formatUri(uri)} lies in a staging root: write elsewhere, or move roots[].staging`,
      );
    }
    if (root.principals.length > 0 && !root.principals.includes(principal)) {
      throw new CommitterError(
        'PRINCIPAL_NOT_ALLOWED',
        `${principal} may not use the root ${formatUri(root.uri)}: see roots[].principals`,
      );
    }
    return root;
  }
}
