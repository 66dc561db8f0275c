import { CommitterError } from '../../src/core/errors.js';

/** The reason that an act is refused for; `none` where it isn't. */
export function reasonOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof CommitterError) return error.reason;
    throw error;
  }
  return 'none';
}
