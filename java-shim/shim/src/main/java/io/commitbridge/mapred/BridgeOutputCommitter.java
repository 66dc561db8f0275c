package io.commitbridge.mapred;

import io.commitbridge.internal.CommitterCalls;
import io.commitbridge.internal.PassThroughCommitter;
import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.FileOutputCommitter;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobContext;
import org.apache.hadoop.mapred.JobStatus;
import org.apache.hadoop.mapred.TaskAttemptContext;

/**
 * The committer for {@code mapred.output.committer.class}: output formats of the old API, as
 * MapReduce's JobConf, Spark's saveAsTextFile and saveAsHadoopFile, and Tez use them. It extends
 * the old API's FileOutputCommitter because those formats ask only subclasses of that one for a
 * work path, and make any other committer's tasks write straight into the destination.
 *
 * <p>As {@link io.commitbridge.BridgeOutputCommitter} otherwise. The destination is the one in the
 * job's configuration.
 */
public class BridgeOutputCommitter extends FileOutputCommitter {
  private Path outputPath;
  /** Null before the first call: the old API makes committers without a context. */
  private CommitterCalls calls;

  /** Makes the committer. Nothing is sent. */
  public BridgeOutputCommitter() {}

  /** One instance serves one job, or one attempt; what setupJob learns is kept for commitJob. */
  private synchronized CommitterCalls calls(
      org.apache.hadoop.mapreduce.JobContext context, Path path) throws IOException {
    if (calls == null || !(path == null ? outputPath == null : path.equals(outputPath))) {
      calls = CommitterCalls.create(path, context,
          (p, c) -> new org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter(
              p, PassThroughCommitter.versionOne(c)));
      outputPath = path;
    }
    return calls;
  }

  private CommitterCalls calls(JobContext context) throws IOException {
    return calls(context, FileOutputFormat.getOutputPath(context.getJobConf()));
  }

  private CommitterCalls calls(TaskAttemptContext context) throws IOException {
    return calls(context, FileOutputFormat.getOutputPath(context.getJobConf()));
  }

  @Override
  public Path getTaskAttemptPath(TaskAttemptContext context) throws IOException {
    return getWorkPath(context, FileOutputFormat.getOutputPath(context.getJobConf()));
  }

  @Override
  public Path getWorkPath(TaskAttemptContext context, Path path) throws IOException {
    return path == null ? null : calls(context, path).getTaskAttemptPath(context);
  }

  @Override
  public void setupJob(JobContext context) throws IOException {
    calls(context).setupJob(context);
  }

  @Override
  public void commitJob(JobContext context) throws IOException {
    calls(context).commitJob(context);
  }

  /** Does nothing for a bridged destination: commitJob and abortJob leave nothing to clean up. */
  @Override
  @Deprecated
  public void cleanupJob(JobContext context) throws IOException {
    calls(context).cleanupJob(context);
  }

  @Override
  public void abortJob(JobContext context, int runState) throws IOException {
    calls(context).abortJob(context, runState == JobStatus.KILLED
        ? org.apache.hadoop.mapreduce.JobStatus.State.KILLED
        : org.apache.hadoop.mapreduce.JobStatus.State.FAILED);
  }

  @Override
  public boolean isCommitJobRepeatable(JobContext context) throws IOException {
    return calls(context).isCommitJobRepeatable(context);
  }

  @Override
  public boolean isRecoverySupported(JobContext context) throws IOException {
    return calls(context).isRecoverySupported(context);
  }

  /** False, which only costs reruns: without a context there's no daemon to ask. */
  @Override
  @Deprecated
  public boolean isRecoverySupported() {
    return false;
  }

  @Override
  public void setupTask(TaskAttemptContext context) throws IOException {
    calls(context).setupTask(context);
  }

  @Override
  public boolean needsTaskCommit(TaskAttemptContext context) throws IOException {
    return calls(context).needsTaskCommit(context);
  }

  @Override
  public void commitTask(TaskAttemptContext context) throws IOException {
    calls(context).commitTask(context);
  }

  @Override
  public void abortTask(TaskAttemptContext context) throws IOException {
    calls(context).abortTask(context);
  }

  @Override
  public void recoverTask(TaskAttemptContext context) throws IOException {
    calls(context).recoverTask(context);
  }

  @Override
  public String toString() {
    return "mapred.BridgeOutputCommitter{" + calls + "}";
  }
}
