package io.commitbridge.internal;

import java.io.InterruptedIOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** When to try again, and how long to wait before. */
final class Retry {
  private static final long FIRST_DELAY_MS = 100;
  private static final long MAX_DELAY_MS = 5_000;

  private Retry() {}

  static long nowMs() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /** Doubles from 100 ms to 5 s, half of it random, so that tasks don't come back in step. */
  static long delayMs(int failures) {
    long full = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS << Math.min(10, Math.max(0, failures - 1)));
    return full / 2 + ThreadLocalRandom.current().nextLong(full / 2 + 1);
  }

  static void sleep(long ms, String what) throws InterruptedIOException {
    try {
      TimeUnit.MILLISECONDS.sleep(ms);
    } catch (InterruptedException e) {
      throw interrupted(what);
    }
  }

  static InterruptedIOException interrupted(String what) {
    Thread.currentThread().interrupt();
    return new InterruptedIOException(what + " was interrupted");
  }
}
