import { CommitterError } from '../core/errors.js';
import type { StoreError } from '../ports/object-store.js';

/** An error of a store that no use case dealt with, as a sentence that names the place and the key to change. */
export function toCommitterError(error: StoreError, where: string): CommitterError {
  const options = { cause: error };
  switch (error.kind) {
    case 'throttled':
    case 'unavailable':
    case 'timeout':
    case 'cancelled':
      return new CommitterError(
        'STORE_UNAVAILABLE',
        `the store of ${where} does not answer as it should: ${error.message}; the call may be repeated; if it goes on, look at stores.*.endpoint`,
        { ...options, retryAfterMs: error.details.retryAfterMs ?? 1_000 },
      );
    case 'conflict':
      return new CommitterError(
        'STORE_UNAVAILABLE',
        `the store of ${where} reports concurrent writes: ${error.message}; the call may be repeated`,
        options,
      );
    case 'access-denied':
    case 'expired-credentials':
      return new CommitterError(
        'STORE_ACCESS_DENIED',
        `the store of ${where} refuses the daemon's credentials: ${error.message}; check stores.*.credentials and the bucket's policy`,
        options,
      );
    case 'no-such-bucket':
      return new CommitterError(
        'BUCKET_NOT_FOUND',
        `the bucket of ${where} does not exist: ${error.message}; check roots[].uri and roots[].staging`,
        options,
      );
    case 'key-too-long':
      return new CommitterError(
        'KEY_TOO_LONG',
        `the store of ${where} takes no key this long: ${error.message}`,
        options,
      );
    case 'unsupported':
      return new CommitterError(
        'UNSUPPORTED',
        `the store of ${where} cannot do that: ${error.message}`,
        options,
      );
    case 'not-found':
    case 'no-such-upload':
    case 'precondition-failed':
    case 'invalid-parts':
    case 'invalid':
      return new CommitterError(
        'INTERNAL',
        `the store of ${where} refused a request: ${error.message}`,
        options,
      );
  }
}
