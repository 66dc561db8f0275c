import type { StoreCapabilities } from '../ports/object-store.js';
import type { AppContext } from './context.js';

export interface InlineLimits {
  /** Bytes in an inline file; 0 where there are none. */
  readonly maxInlineBytes: number;
  /** Bytes in all inline files of a task attempt. */
  readonly maxInlineBytesPerAttempt: number;
}

/** The fence of an inline put is its signature's end, so a store that can't presign takes none. */
export function inlineLimits(
  { options }: Pick<AppContext, 'options'>,
  ...capabilities: readonly Pick<StoreCapabilities, 'presign'>[]
): InlineLimits {
  const { maxInlineBytes, maxInlineBytesPerAttempt } = options;
  const isFenced = capabilities.every(({ presign }) => presign);
  return { maxInlineBytes: isFenced ? maxInlineBytes : 0, maxInlineBytesPerAttempt };
}
