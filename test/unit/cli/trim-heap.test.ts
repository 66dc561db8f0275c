import { afterEach, describe, expect, it, vi } from 'vitest';
import { trimHeapSoon } from '../../../src/cli/trim-heap.js';

describe('trimHeapSoon', () => {
  afterEach(() => vi.useRealTimers());

  it('collects what the start left, and stops by itself', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const reference = weaklyHeld();
    trimHeapSoon();
    await new Promise((resolve) => setImmediate(resolve));
    expect(reference.deref()).toBeDefined();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reference.deref()).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });
});

function weaklyHeld(): WeakRef<object> {
  return new WeakRef({ of: 'the start' });
}
