package io.commitbridge.internal;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.Progressable;

/**
 * Tells the framework, every few seconds, that a task that waits for the daemon or the store isn't
 * dead.
 */
final class Progress {
  static final long INTERVAL_MS = TimeUnit.SECONDS.toMillis(3);
  static final Progress NONE = new Progress(null);

  private final Progressable target;
  private volatile long last = Retry.nowMs() - INTERVAL_MS;

  private Progress(Progressable target) {
    this.target = target;
  }

  static Progress of(Object context) {
    if (context instanceof Progressable) {
      return new Progress((Progressable) context);
    }
    if (context instanceof org.apache.hadoop.mapred.JobContext) {
      Progressable old = ((org.apache.hadoop.mapred.JobContext) context).getProgressible();
      return old == null ? NONE : new Progress(old);
    }
    return NONE;
  }

  /** Of what a FileSystem is given for a file: null where the output format has nothing to tell. */
  static Progress of(Progressable target) {
    return target == null ? NONE : new Progress(target);
  }

  /** Called often; passes one call on every few seconds. */
  void tick() {
    if (target != null && Retry.nowMs() - last >= INTERVAL_MS) {
      last = Retry.nowMs();
      target.progress();
    }
  }
}
