package io.commitbridge.internal;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;

/**
 * What stands behind a committer class: the daemon, or a committer of Hadoop's for destinations
 * that aren't bridged. The engine's classes (mapreduce, Parquet, later mapred and Spark's commit
 * protocol) only pass calls on.
 */
public interface CommitterCalls {
  /** Makes the committer that an unbridged destination, or none, goes to. */
  interface PassThroughFactory<C extends JobContext> {
    FileOutputCommitter create(Path path, C context) throws IOException;
  }

  /** As FileOutputCommitter's. */
  Path getOutputPath();

  /** Where the attempt of the constructor's context writes. */
  Path getWorkPath() throws IOException;

  /** Where the given attempt writes. */
  Path getTaskAttemptPath(TaskAttemptContext context) throws IOException;

  /** Where FileOutputCommitter has the output of a committed attempt. */
  Path getCommittedTaskPath(TaskAttemptContext context) throws IOException;

  /** Where FileOutputCommitter has the output of committed attempts. */
  Path getJobAttemptPath(JobContext context);

  void setupJob(JobContext context) throws IOException;

  void commitJob(JobContext context) throws IOException;

  void abortJob(JobContext context, JobStatus.State state) throws IOException;

  /** Deprecated in Hadoop, which calls commitJob or abortJob besides it. */
  void cleanupJob(JobContext context) throws IOException;

  boolean isCommitJobRepeatable(JobContext context) throws IOException;

  /**
   * Says whether a later job attempt may recover tasks.
   *
   * @param context null where the caller has none: the constructor's is taken
   */
  boolean isRecoverySupported(JobContext context) throws IOException;

  void setupTask(TaskAttemptContext context) throws IOException;

  boolean needsTaskCommit(TaskAttemptContext context) throws IOException;

  void commitTask(TaskAttemptContext context) throws IOException;

  void abortTask(TaskAttemptContext context) throws IOException;

  void recoverTask(TaskAttemptContext context) throws IOException;

  /** Chooses by the destination's scheme. Nothing is sent. */
  static <C extends JobContext> CommitterCalls create(
      Path path, C context, PassThroughFactory<C> passThrough) throws IOException {
    if (Destination.isBridged(path, context.getConfiguration())) {
      return new DaemonCommitter(path, context);
    }
    return new PassThroughCommitter(path, passThrough.create(path, context));
  }
}
