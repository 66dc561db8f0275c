package io.commitbridge.it.bridge;

import io.commitbridge.it.Sigkill;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.TaskContext;

/**
 * Lets task attempts fail in the committer, by keys of the job's configuration: {@value #WHERE} is one of the
 * constants below; {@value #TASK} the task (all if missing); {@value #ATTEMPTS} how many attempts of it fail (1);
 * {@value #HOW} is {@code io} (default), {@code runtime}, or {@code kill}, which is -9 to the executor's JVM.
 */
final class CommitterFault {
  static final String WHERE = "commitbridge.test.fault";
  static final String TASK = "commitbridge.test.fault.task";
  static final String ATTEMPTS = "commitbridge.test.fault.attempts";
  static final String HOW = "commitbridge.test.fault.how";

  /** All files are closed, and nobody has asked whether the task may commit. */
  static final String AFTER_CLOSE = "after-close";
  /** In commitTask, with nothing sent. */
  static final String BEFORE_COMMIT = "before-commit";
  /** In commitTask, with the record in the store: as if the reply was lost. */
  static final String AFTER_COMMIT = "after-commit";

  private CommitterFault() {}

  static void at(String where, TaskAttemptContext context) throws IOException {
    Configuration conf = context.getConfiguration();
    TaskContext task = TaskContext.get();
    if (task == null || !where.equals(conf.get(WHERE))) {
      return;
    }
    int only = conf.getInt(TASK, -1);
    if (task.attemptNumber() >= conf.getInt(ATTEMPTS, 1) || (only >= 0 && only != task.partitionId())) {
      return;
    }
    String text = "injected fault " + where + ": task " + task.partitionId() + ", attempt " + task.attemptNumber();
    switch (conf.get(HOW, "io")) {
      case "kill":
        Sigkill.self();
        break;
      case "runtime":
        throw new IllegalStateException(text);
      default:
        throw new IOException(text);
    }
  }
}
