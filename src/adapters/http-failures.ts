import type { StoreErrorKind } from '../ports/object-store.js';

/** Of an answer whose code is not known, such as a proxy's page. */
export function kindOfStatus(status: number): StoreErrorKind {
  switch (status) {
    case 401:
    case 403:
      return 'access-denied';
    case 405:
    case 501:
      return 'unsupported';
    case 408:
      return 'timeout';
    case 412:
      return 'precondition-failed';
    case 429:
      return 'throttled';
  }
  // A success that can't be read had an effect, or not.
  if (status < 300 || status >= 500) return 'unavailable';
  // 404 among them: without the store's word for it, nobody knows what wasn't found.
  return 'invalid';
}

/** The header Retry-After, where it names seconds. */
export function parseRetryAfter(value: string | undefined): number | undefined {
  const seconds = Number(value);
  return value === undefined || value === '' || !(seconds >= 0) ? undefined : seconds * 1_000;
}
