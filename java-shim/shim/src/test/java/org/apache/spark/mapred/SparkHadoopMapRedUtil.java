package org.apache.spark.mapred;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * Stands in for Spark's, which needs a running Spark: does the same with the answers that a test
 * gives for the driver's OutputCommitCoordinator.
 */
public final class SparkHadoopMapRedUtil {
  /** What was asked: "job split". */
  public static final List<String> ASKED = Collections.synchronizedList(new ArrayList<>());
  /** Whether the driver says yes. */
  public static volatile boolean isAllowed = true;

  private SparkHadoopMapRedUtil() {}

  public static void commitTask(
      OutputCommitter committer, TaskAttemptContext context, int jobId, int splitId) {
    try {
      if (!committer.needsTaskCommit(context)) {
        return;
      }
      ASKED.add(jobId + " " + splitId);
      if (!isAllowed) {
        committer.abortTask(context);
        throw new IllegalStateException("the driver did not authorize commit");
      }
      try {
        committer.commitTask(context);
      } catch (IOException e) {
        committer.abortTask(context);
        throw e;
      }
    } catch (IOException e) {
      SparkHadoopMapRedUtil.<RuntimeException>raise(e);
    }
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> void raise(Throwable error) throws E {
    throw (E) error;
  }
}
