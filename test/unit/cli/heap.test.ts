import { afterEach, describe, expect, it, vi } from 'vitest';
import { trimHeapSoon } from '../../../src/cli/heap.js';

describe('trimHeapSoon', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('collects what the start left, and stops by itself', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const load = vi.spyOn(performance, 'eventLoopUtilization');
    load.mockReturnValue({ idle: 1, active: 1, utilization: 0.5 });
    const reference = weaklyHeld();
    trimHeapSoon();
    await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reference.deref(), 'while it works it is left alone').toBeDefined();
    load.mockReturnValue({ idle: 100, active: 1, utilization: 0.01 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reference.deref()).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });
});

function weaklyHeld(): WeakRef<object> {
  return new WeakRef({ of: 'the start' });
}
