import { memoryUsage } from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** V8 shrinks its young generation only where little was allocated in the five seconds before a collection. */
const intervalMs = 6_000;
const maxTries = 3;
/** Of the time since the last look that the daemon worked. */
const maxUtilization = 0.05;

/** How much more than what is in use the heap may grow to before it is collected, in percent. */
const growthPercent = 80;

/**
 * Where memory is plenty, V8 lets a heap become four times what is in use. A daemon shares its machine with executors: with
 * this a commit of 100,000 files has 190 MB resident instead of 340, for 8 % more CPU time (`npm run bench:commit`).
 */
export function growHeapSlowly(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}

/**
 * Gives back what loading left: about 20 MB that an idle daemon would keep, since V8 collects by allocation. Node has no
 * call for it without a command-line flag.
 */
export function trimHeapSoon(): void {
  let tries = 0;
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    // It stands still for 20 ms and more, which no call should meet.
    if (utilization > maxUtilization) return;
    collect();
    const { heapTotal, heapUsed } = memoryUsage();
    if (++tries === maxTries || heapTotal < 1.5 * heapUsed) clearInterval(timer);
  }, intervalMs);
  timer.unref();
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  const call = runInNewContext('gc') as (() => void) | undefined;
  setFlagsFromString('--no-expose-gc');
  call?.();
}
