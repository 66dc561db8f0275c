package io.commitbridge.internal;

import com.google.protobuf.InvalidProtocolBufferException;
import io.commitbridge.CommitbridgeException;
import io.commitbridge.proto.v1.TaskAttemptRef;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** Spark's commit protocol without Spark: what its class needs of the daemon. */
public final class ProtocolCalls {
  private final DaemonCommitter committer;

  private ProtocolCalls(DaemonCommitter committer) {
    this.committer = committer;
  }

  /**
   * The driver's.
   *
   * @param id the protocol's own id of the job
   * @param path the destination
   * @param dynamicOverwrite whether the commit replaces the partitions that are written
   * @param replaced the directories that it replaces otherwise
   * @param context the job's
   */
  public static ProtocolCalls ofDriver(String id, String path, boolean dynamicOverwrite,
      List<Path> replaced, JobContext context) {
    return new ProtocolCalls(new DaemonCommitter(new Path(path), context,
        ProtocolTerms.ofDriver(id, dynamicOverwrite, replaced)));
  }

  /**
   * A task's.
   *
   * @param id the protocol's own id of the job
   * @param token what the driver set the job up under
   * @param path the destination
   * @param context the attempt's
   */
  public static ProtocolCalls ofTask(
      String id, String token, String path, TaskAttemptContext context) {
    return new ProtocolCalls(
        new DaemonCommitter(new Path(path), context, ProtocolTerms.ofTask(id, token)));
  }

  /**
   * Sets the job up.
   *
   * @return the token, for {@link #ofTask}
   */
  public String setupJob(JobContext context) throws IOException {
    committer.setupJob(context);
    return committer.token();
  }

  /**
   * Publishes exactly the attempts that committed.
   *
   * @param commits what {@link #attempt} gave for each
   */
  public void commitJob(JobContext context, List<byte[]> commits) throws IOException {
    if (JobSetup.isWithDriver(context.getConfiguration())) {
      committer.commitJobWithPendingsets(context, commits);
      return;
    }
    List<TaskAttemptRef> winners = new ArrayList<>(commits.size());
    for (byte[] commit : commits) {
      try {
        winners.add(TaskAttemptRef.parseFrom(commit));
      } catch (InvalidProtocolBufferException e) {
        throw new CommitbridgeException("INTERNAL", "A task's commit message isn't readable", e);
      }
    }
    committer.commitJob(context, winners);
  }

  public void abortJob(JobContext context) throws IOException {
    committer.abortJob(context, JobStatus.State.FAILED);
  }

  public void setupTask(TaskAttemptContext context) throws IOException {
    committer.setupTask(context);
  }

  public void abortTask(TaskAttemptContext context) throws IOException {
    committer.abortTask(context);
  }

  /**
   * Where the attempt writes a file.
   *
   * @param directory below the destination; null for the destination itself
   */
  public String newFile(TaskAttemptContext context, String directory, String name)
      throws IOException {
    Path work = committer.getTaskAttemptPath(context);
    return new Path(directory == null ? work : new Path(work, directory), name).toString();
  }

  /**
   * Where the attempt writes a file whose directory may be anywhere.
   *
   * @param directory a URI
   */
  public String newFileAt(TaskAttemptContext context, String directory, String name)
      throws IOException {
    Configuration conf = context.getConfiguration();
    Path place = Destination.qualify(new Path(directory), conf);
    Destination.requireBridged(place, conf);
    return new Path(committer.getTaskAttemptPath(context, place.toString()), name).toString();
  }

  /**
   * The attempt that was committed, for {@link #commitJob}: its name, or all that the daemon knows
   * of it. Plain bytes, which every serializer of Spark's takes.
   */
  public byte[] attempt(TaskAttemptContext context) {
    byte[] pendingset = committer.pendingset();
    return pendingset.length > 0 ? pendingset : DaemonCommitter.attempt(context).toByteArray();
  }

  /** The same calls as a committer, for Spark's code that asks the driver before it commits. */
  public OutputCommitter asOutputCommitter() {
    return new OutputCommitter() {
      @Override
      public void setupJob(JobContext context) throws IOException {
        committer.setupJob(context);
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
    };
  }
}
