package io.commitbridge.internal;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.proto.v1.AbortJobRequest;
import io.commitbridge.proto.v1.AbortScope;
import io.commitbridge.proto.v1.ClosedFile;
import io.commitbridge.proto.v1.CommitJobRequest;
import io.commitbridge.proto.v1.CommitJobResponse;
import io.commitbridge.proto.v1.CommitJobWithPendingsetsResponse;
import io.commitbridge.proto.v1.CommitTaskResponse;
import io.commitbridge.proto.v1.ExactWinners;
import io.commitbridge.proto.v1.JobRef;
import io.commitbridge.proto.v1.PendingFile;
import io.commitbridge.proto.v1.SetupTaskResponse;
import io.commitbridge.proto.v1.TaskAttemptRef;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The committer's calls as calls of the daemon, which answers all of them. */
final class DaemonCommitter implements CommitterCalls {
  private static final Logger LOG = LoggerFactory.getLogger(DaemonCommitter.class);
  /** At most: a few tokens and a destination. */
  private static final int JOB_REF_BYTES = 4 * 1024;

  private final Path outputPath;
  private final String destination;
  private final JobContext created;
  private final JobTerms terms;
  private final JobSetup setup;
  private boolean committed;
  private byte[] pendingset = {};

  DaemonCommitter(Path path, JobContext context) {
    this(path, context, JobTerms.CONFIGURED);
  }

  DaemonCommitter(Path path, JobContext context, JobTerms terms) {
    Configuration conf = context.getConfiguration();
    outputPath = Destination.qualify(path, conf);
    // Not URL-encoded, as Path's text isn't.
    destination = outputPath.toString();
    created = context;
    this.terms = terms;
    setup = new JobSetup(outputPath, destination, terms);
    // A jar that was added to a running JVM comes too late for the services that Hadoop has read.
    conf.setIfUnset("fs." + WorkPath.SCHEME + ".impl", "io.commitbridge.BridgeFileSystem");
  }

  @Override
  public Path getOutputPath() {
    return outputPath;
  }

  @Override
  public Path getWorkPath() throws IOException {
    if (created instanceof TaskAttemptContext) {
      return getTaskAttemptPath((TaskAttemptContext) created);
    }
    throw new IOException("A committer that was made for a job has no work path: " + destination);
  }

  @Override
  public Path getTaskAttemptPath(TaskAttemptContext context) throws IOException {
    return work(context).path(new Settings(context.getConfiguration()));
  }

  /** Where the given attempt writes what goes into another directory than the destination. */
  Path getTaskAttemptPath(TaskAttemptContext context, String directory) throws IOException {
    return work(context).pathOf(new Settings(context.getConfiguration()), directory);
  }

  /** The token that setupJob used, or null. */
  String token() {
    return setup.token();
  }

  /** The same: files that are committed don't move. */
  @Override
  public Path getCommittedTaskPath(TaskAttemptContext context) throws IOException {
    return getTaskAttemptPath(context);
  }

  /** There is none. The FileSystem refuses to write here, which the destination's wouldn't. */
  @Override
  public Path getJobAttemptPath(JobContext context) {
    return new Path(
        WorkPath.SCHEME, WorkPath.authority(new Settings(context.getConfiguration())), "/");
  }

  @Override
  public void setupJob(JobContext context) throws IOException {
    setup.run(context);
  }

  @Override
  public void commitJob(JobContext context) throws IOException {
    commitJob(context, CommitJobRequest.newBuilder());
  }

  /** As commitJob, publishing exactly the given attempts. */
  void commitJob(JobContext context, List<TaskAttemptRef> winners) throws IOException {
    CommitJobRequest.Builder request = CommitJobRequest.newBuilder()
        .setExactWinners(ExactWinners.newBuilder().addAllAttempts(winners));
    if (request.build().getSerializedSize() + JOB_REF_BYTES > setup.maxMessageBytes()) {
      LOG.warn("The names of all task attempts don't fit a message to the daemon, so the latest"
          + " committed attempt of each task is published: destination={} tasks={} bytes={}",
          destination, winners.size(), setup.maxMessageBytes());
      request.clearExactWinners();
    }
    commitJob(context, request);
  }

  /** As commitJob, publishing what the tasks' {@link #pendingset} says. */
  void commitJobWithPendingsets(JobContext context, List<byte[]> pendingsets) throws IOException {
    CommitJobWithPendingsetsResponse response =
        client(context).commitJobWithPendingsets(jobOfDriver(context), pendingsets);
    committed = true;
    LOG.info("Job committed: destination={} files={} bytes={} tasks={}", destination,
        response.getFiles(), response.getBytes(), response.getTasks());
  }

  private void commitJob(JobContext context, CommitJobRequest.Builder request)
      throws IOException {
    CommitJobResponse response =
        client(context).commitJob(request.setJob(jobOfDriver(context)).build());
    committed = true;
    LOG.info("Job committed: destination={} files={} bytes={} tasks={}", destination,
        response.getFiles(), response.getBytes(), response.getTasks());
  }

  @Override
  public void abortJob(JobContext context, JobStatus.State state) throws IOException {
    // A query that is cancelled gets here with its interrupt pending, which would stop this too.
    boolean interrupted = Thread.interrupted();
    try {
      sendAbortJob(context, state);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void sendAbortJob(JobContext context, JobStatus.State state) throws IOException {
    AbortJobRequest.Builder request = AbortJobRequest.newBuilder().setJob(jobOfDriver(context))
        .setReason(String.valueOf(state));
    // An application master that didn't recover aborts under its own number before it sets that up.
    request.setScope(setup.mayHaveHappened()
        ? AbortScope.ABORT_SCOPE_THIS_AND_EARLIER_ATTEMPTS
        : AbortScope.ABORT_SCOPE_EARLIER_ATTEMPTS);
    boolean published = client(context).abortJob(request.build()).getPublished();
    if (published && committed) {
      // MapReduce's application master aborts after every job, also after this.
      LOG.info("The job was committed, its output stays: destination={}", destination);
    } else if (published) {
      LOG.warn("abortJob found the job published: its output is complete and stays, whatever the"
          + " engine reports: destination={} state={}", destination, state);
    } else {
      LOG.info("Job aborted: destination={} state={}", destination, state);
    }
  }

  /** Nothing: what it would clean up, commitJob and abortJob do. */
  @Override
  public void cleanupJob(JobContext context) {}

  @Override
  public boolean isCommitJobRepeatable(JobContext context) throws IOException {
    return client(context).isCommitJobRepeatable(jobOfDriver(context));
  }

  @Override
  public boolean isRecoverySupported(JobContext context) throws IOException {
    JobContext known = context == null ? created : context;
    return client(known).isRecoverySupported(jobOfDriver(known));
  }

  @Override
  public void setupTask(TaskAttemptContext context) throws IOException {
    WorkPath work = work(context);
    Settings settings = new Settings(context.getConfiguration());
    SetupTaskResponse response = client(context).setupTask(job(work), attempt(context));
    AttemptRegistry.begin(work, new InlineBudget(
        Math.min(settings.inlineLimitBytes, response.getMaxInlineBytes()),
        response.getMaxInlineBytesPerAttempt()));
  }

  @Override
  public boolean needsTaskCommit(TaskAttemptContext context) throws IOException {
    return client(context).needsTaskCommit(job(work(context)), attempt(context));
  }

  @Override
  public void commitTask(TaskAttemptContext context) throws IOException {
    WorkPath work = work(context);
    AttemptFiles written = AttemptRegistry.forCommit(work);
    List<ClosedFile> files = written == null ? Collections.emptyList() : written.closedFiles();
    CommitTaskResponse response = client(context).commitTask(job(work), attempt(context), files);
    if (response.getFiles() != files.size()) {
      throw new CommitbridgeException("INTERNAL", "CommitTask sent " + files.size()
          + " files and the daemon recorded " + response.getFiles() + ": " + work);
    }
    pendingset = response.getPendingset().toByteArray();
    AttemptRegistry.end(work);
  }

  /** What the last commitTask returned for the driver; empty where the record is in the store. */
  byte[] pendingset() {
    return pendingset;
  }

  @Override
  public void abortTask(TaskAttemptContext context) throws IOException {
    // A task that is killed gets here with its interrupt pending, which would stop the abort too.
    boolean interrupted = Thread.interrupted();
    try {
      sendAbortTask(context);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void sendAbortTask(TaskAttemptContext context) throws IOException {
    WorkPath work = work(context);
    AttemptFiles written = AttemptRegistry.end(work);
    List<PendingFile> files = written == null ? Collections.emptyList() : written.abort();
    try {
      client(context).abortTask(job(work), attempt(context), files);
    } catch (CommitbridgeException e) {
      if (!e.getReason().equals("JOB_NOT_FOUND")) {
        throw e;
      }
      LOG.debug("Nothing to abort, no such job: attempt={} destination={}", work.attemptId,
          destination);
    }
  }

  @Override
  public void recoverTask(TaskAttemptContext context) throws IOException {
    client(context).recoverTask(job(work(context)), attempt(context));
  }

  private WorkPath work(TaskAttemptContext context) throws IOException {
    Configuration conf = context.getConfiguration();
    List<String> tokens =
        terms.names(conf, context.getTaskAttemptID().getJobID(), destination);
    return new WorkPath(tokens, Attempts.jobAttempt(conf), context.getTaskAttemptID().toString(),
        destination);
  }

  private static JobRef job(WorkPath work) {
    return Attempts.job(work.tokens, work.jobAttempt, work.destination);
  }

  /** The job by the token that this instance set up, or by every name that can be derived. */
  private JobRef jobOfDriver(JobContext context) throws IOException {
    Configuration conf = context.getConfiguration();
    List<String> tokens = setup.token() != null
        ? Collections.singletonList(setup.token())
        : terms.names(conf, context.getJobID(), destination);
    return Attempts.job(tokens, Attempts.jobAttempt(conf), destination);
  }

  static TaskAttemptRef attempt(TaskAttemptContext context) {
    return Attempts.attempt(context.getTaskAttemptID());
  }

  private static DaemonClient client(JobContext context) {
    return new DaemonClient(new Settings(context.getConfiguration()), Progress.of(context));
  }

  @Override
  public String toString() {
    return "Commitbridge to " + destination;
  }
}
