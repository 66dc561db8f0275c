package io.commitbridge.internal;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;

/** Passes everything on to a committer of Hadoop's; one without a path does nothing at all. */
public final class PassThroughCommitter implements CommitterCalls {
  private final Path path;
  private final FileOutputCommitter committer;

  PassThroughCommitter(Path path, FileOutputCommitter committer) {
    this.path = path;
    this.committer = committer;
  }

  /** A copy of the context whose configuration asks for v1: v2 loses G1 and G2 when tasks fail. */
  public static TaskAttemptContext versionOne(TaskAttemptContext context) {
    return new TaskAttemptContextImpl(
        versionOne(context.getConfiguration()), context.getTaskAttemptID());
  }

  /** As above, for a driver's context. */
  public static JobContext versionOne(JobContext context) {
    return new JobContextImpl(versionOne(context.getConfiguration()), context.getJobID());
  }

  private static Configuration versionOne(Configuration conf) {
    Configuration copy = new Configuration(conf);
    copy.setInt(FileOutputCommitter.FILEOUTPUTCOMMITTER_ALGORITHM_VERSION, 1);
    return copy;
  }

  @Override
  public Path getOutputPath() {
    return path;
  }

  @Override
  public Path getWorkPath() throws IOException {
    return committer.getWorkPath();
  }

  @Override
  public Path getTaskAttemptPath(TaskAttemptContext context) {
    return committer.getTaskAttemptPath(context);
  }

  @Override
  public Path getCommittedTaskPath(TaskAttemptContext context) {
    return committer.getCommittedTaskPath(context);
  }

  @Override
  public Path getJobAttemptPath(JobContext context) {
    return committer.getJobAttemptPath(context);
  }

  @Override
  public void setupJob(JobContext context) throws IOException {
    committer.setupJob(context);
  }

  @Override
  public void commitJob(JobContext context) throws IOException {
    committer.commitJob(context);
  }

  @Override
  public void abortJob(JobContext context, JobStatus.State state) throws IOException {
    committer.abortJob(context, state);
  }

  @Override
  @SuppressWarnings("deprecation")
  public void cleanupJob(JobContext context) throws IOException {
    committer.cleanupJob(context);
  }

  @Override
  public boolean isCommitJobRepeatable(JobContext context) throws IOException {
    return committer.isCommitJobRepeatable(context);
  }

  @Override
  @SuppressWarnings("deprecation")
  public boolean isRecoverySupported(JobContext context) throws IOException {
    return context == null
        ? committer.isRecoverySupported() : committer.isRecoverySupported(context);
  }

  @Override
  public void setupTask(TaskAttemptContext context) throws IOException {
    committer.setupTask(context);
  }

  @Override
  public boolean needsTaskCommit(TaskAttemptContext context) throws IOException {
    return committer.needsTaskCommit(context);
  }

  @Override
  public void commitTask(TaskAttemptContext context) throws IOException {
    committer.commitTask(context);
  }

  @Override
  public void abortTask(TaskAttemptContext context) throws IOException {
    committer.abortTask(context);
  }

  @Override
  public void recoverTask(TaskAttemptContext context) throws IOException {
    committer.recoverTask(context);
  }

  @Override
  public String toString() {
    return committer.toString();
  }
}
