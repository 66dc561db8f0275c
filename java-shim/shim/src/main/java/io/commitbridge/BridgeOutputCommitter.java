package io.commitbridge;

import io.commitbridge.internal.CommitterCalls;
import io.commitbridge.internal.PassThroughCommitter;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The committer for Spark's {@code spark.sql.sources.outputCommitterClass} and, by
 * {@link BridgeCommitterFactory}, for MapReduce. It extends FileOutputCommitter because Spark asks
 * only subclasses of that one for a work path, and makes any other committer's tasks write straight
 * into the destination.
 *
 * <p>Every call goes to the Commitbridge daemon that {@link ConfKeys#ENDPOINTS} names; what fails
 * there is an IOException here, a {@link CommitbridgeException} or one of Hadoop's. Destinations
 * whose scheme isn't in {@link ConfKeys#SCHEMES} go to Hadoop's own FileOutputCommitter (v1), and a
 * null path makes every call do nothing, as there. Constructors send nothing.
 */
public class BridgeOutputCommitter extends FileOutputCommitter {
  private static final Logger LOG = LoggerFactory.getLogger(BridgeOutputCommitter.class);

  /** Null while the superclass's constructor runs. */
  private final CommitterCalls calls;

  /**
   * Makes the committer of a task, or of a driver that has such a context.
   *
   * @param outputPath the destination; null for none
   * @param context the attempt and its configuration, which the work path comes from
   * @throws IOException where Hadoop's own committer can't be made for an unbridged destination
   */
  public BridgeOutputCommitter(Path outputPath, TaskAttemptContext context) throws IOException {
    super(null, context);
    calls = CommitterCalls.create(outputPath, context,
        (path, c) -> new FileOutputCommitter(path, PassThroughCommitter.versionOne(c)));
  }

  /**
   * Makes the committer of a driver. It has no work path.
   *
   * @param outputPath the destination; null for none
   * @param context the job and its configuration
   * @throws IOException as above
   */
  public BridgeOutputCommitter(Path outputPath, JobContext context) throws IOException {
    super(null, context);
    calls = CommitterCalls.create(outputPath, context,
        (path, c) -> new FileOutputCommitter(path, PassThroughCommitter.versionOne(c)));
  }

  @Override
  public Path getOutputPath() {
    return calls == null ? null : calls.getOutputPath();
  }

  @Override
  public Path getWorkPath() throws IOException {
    return calls == null ? null : calls.getWorkPath();
  }

  @Override
  public void setupJob(JobContext context) throws IOException {
    calls.setupJob(context);
  }

  @Override
  public void commitJob(JobContext context) throws IOException {
    calls.commitJob(context);
  }

  @Override
  protected void commitJobInternal(JobContext context) throws IOException {
    calls.commitJob(context);
  }

  @Override
  public void abortJob(JobContext context, JobStatus.State state) throws IOException {
    calls.abortJob(context, state);
  }

  /** Does nothing for a bridged destination: commitJob and abortJob leave nothing to clean up. */
  @Override
  @Deprecated
  public void cleanupJob(JobContext context) throws IOException {
    calls.cleanupJob(context);
  }

  @Override
  public boolean isCommitJobRepeatable(JobContext context) throws IOException {
    return calls.isCommitJobRepeatable(context);
  }

  @Override
  public boolean isRecoverySupported(JobContext context) throws IOException {
    return calls.isRecoverySupported(context);
  }

  /** As the one with a context; false, which only costs reruns, where the daemon doesn't answer. */
  @Override
  @Deprecated
  public boolean isRecoverySupported() {
    try {
      return calls.isRecoverySupported(null);
    } catch (IOException e) {
      LOG.warn("Whether tasks can be recovered is unknown: committer={} error={}", calls,
          e.getMessage());
      return false;
    }
  }

  @Override
  public void setupTask(TaskAttemptContext context) throws IOException {
    calls.setupTask(context);
  }

  @Override
  public boolean needsTaskCommit(TaskAttemptContext context) throws IOException {
    return calls.needsTaskCommit(context);
  }

  @Override
  public boolean needsTaskCommit(TaskAttemptContext context, Path taskAttemptPath)
      throws IOException {
    return calls.needsTaskCommit(context);
  }

  @Override
  public void commitTask(TaskAttemptContext context) throws IOException {
    calls.commitTask(context);
  }

  @Override
  public void commitTask(TaskAttemptContext context, Path taskAttemptPath) throws IOException {
    calls.commitTask(context);
  }

  @Override
  public void abortTask(TaskAttemptContext context) throws IOException {
    calls.abortTask(context);
  }

  @Override
  public void abortTask(TaskAttemptContext context, Path taskAttemptPath) throws IOException {
    calls.abortTask(context);
  }

  @Override
  public void recoverTask(TaskAttemptContext context) throws IOException {
    calls.recoverTask(context);
  }

  @Override
  public Path getTaskAttemptPath(TaskAttemptContext context) {
    try {
      return calls == null ? null : calls.getTaskAttemptPath(context);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Path getCommittedTaskPath(TaskAttemptContext context) {
    try {
      return calls == null ? null : calls.getCommittedTaskPath(context);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  protected Path getCommittedTaskPath(int applicationAttempt, TaskAttemptContext context) {
    return getCommittedTaskPath(context);
  }

  @Override
  public Path getJobAttemptPath(JobContext context) {
    return calls == null ? null : calls.getJobAttemptPath(context);
  }

  /** Only Hadoop's own commit asks for it, which never runs here. */
  @Override
  protected Path getJobAttemptPath(int applicationAttempt) {
    throw new UnsupportedOperationException("Committers of Commitbridge have no such path");
  }

  @Override
  public String toString() {
    return "BridgeOutputCommitter{" + calls + "}";
  }
}
