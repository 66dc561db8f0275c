package io.commitbridge.internal;

/**
 * What one task attempt may send along with commitTask instead of uploading it: files up to a size,
 * and so many bytes in all. It's for files that are few and small, since they stay in memory until
 * the attempt is committed.
 */
final class InlineBudget {
  static final InlineBudget NONE = new InlineBudget(0, 0);

  private final long maxFileBytes;
  private long left;

  InlineBudget(long maxFileBytes, long maxAttemptBytes) {
    this.maxFileBytes = maxFileBytes;
    left = maxAttemptBytes;
  }

  /** Takes the bytes of a file; false where it has to be uploaded. */
  synchronized boolean take(long bytes) {
    // No limit means no inline file, not even an empty one.
    if (maxFileBytes <= 0 || bytes > maxFileBytes || bytes > left) {
      return false;
    }
    left -= bytes;
    return true;
  }

  /** Gives the bytes of a file back that was overwritten or deleted. */
  synchronized void giveBack(long bytes) {
    left += bytes;
  }
}
