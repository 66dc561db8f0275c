package io.commitbridge.internal;

import com.google.common.util.concurrent.ListenableFuture;
import io.commitbridge.internal.Rpc.Limits;
import io.commitbridge.proto.v1.AbortFileRequest;
import io.commitbridge.proto.v1.AbortJobRequest;
import io.commitbridge.proto.v1.AbortJobResponse;
import io.commitbridge.proto.v1.AbortTaskRequest;
import io.commitbridge.proto.v1.AdminServiceGrpc;
import io.commitbridge.proto.v1.ClosedFile;
import io.commitbridge.proto.v1.CommitJobRequest;
import io.commitbridge.proto.v1.CommitJobResponse;
import io.commitbridge.proto.v1.CommitJobWithPendingsetsRequest;
import io.commitbridge.proto.v1.CommitJobWithPendingsetsResponse;
import io.commitbridge.proto.v1.CommitTaskRequest;
import io.commitbridge.proto.v1.CommitTaskResponse;
import io.commitbridge.proto.v1.GetServerInfoRequest;
import io.commitbridge.proto.v1.GetServerInfoResponse;
import io.commitbridge.proto.v1.IsCommitJobRepeatableRequest;
import io.commitbridge.proto.v1.IsRecoverySupportedRequest;
import io.commitbridge.proto.v1.JobRef;
import io.commitbridge.proto.v1.JobServiceGrpc;
import io.commitbridge.proto.v1.NeedsTaskCommitRequest;
import io.commitbridge.proto.v1.OpenFileRequest;
import io.commitbridge.proto.v1.OpenFileResponse;
import io.commitbridge.proto.v1.PendingFile;
import io.commitbridge.proto.v1.RecoverTaskRequest;
import io.commitbridge.proto.v1.SetupJobRequest;
import io.commitbridge.proto.v1.SetupJobResponse;
import io.commitbridge.proto.v1.SetupTaskRequest;
import io.commitbridge.proto.v1.SetupTaskResponse;
import io.commitbridge.proto.v1.SignPartsRequest;
import io.commitbridge.proto.v1.SignPartsResponse;
import io.commitbridge.proto.v1.TaskAttemptRef;
import io.commitbridge.proto.v1.UploadServiceGrpc;
import io.grpc.Channel;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The calls of the protocol, blocking, with their time limits. Errors are IOExceptions. */
final class DaemonClient {
  /** Validating a file, or aborting its upload, takes the daemon less than this. */
  private static final long PER_FILE_MS = 10;
  /** An abort that doesn't arrive costs little: the daemon's ledger knows the uploads. */
  private static final long ABORT_WINDOW_MS = 30_000;

  private final Settings settings;
  private final Progress progress;

  DaemonClient(Settings settings, Progress progress) {
    this.settings = settings;
    this.progress = progress;
  }

  /** The first contact: fails within seconds where no daemon is. */
  GetServerInfoResponse getServerInfo(String destination) throws IOException {
    GetServerInfoRequest request =
        GetServerInfoRequest.newBuilder().setDestination(destination).build();
    long total = settings.connectTimeoutMs;
    // One endpoint that swallows packets must leave time for the others.
    long each = Math.max(500, total / Math.max(1, settings.endpoints.size()));
    return call("GetServerInfo", new Limits(each, total, total), (channel, deadlineMs) ->
        AdminServiceGrpc.newFutureStub(channel).withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS)
            .getServerInfo(request));
  }

  SetupJobResponse setupJob(SetupJobRequest request) throws IOException {
    return job("SetupJob", usual(0), stub -> stub.setupJob(request));
  }

  SetupTaskResponse setupTask(JobRef job, TaskAttemptRef attempt) throws IOException {
    SetupTaskRequest request =
        SetupTaskRequest.newBuilder().setJob(job).setAttempt(attempt).build();
    return job("SetupTask", usual(0), stub -> stub.setupTask(request));
  }

  boolean needsTaskCommit(JobRef job, TaskAttemptRef attempt) throws IOException {
    NeedsTaskCommitRequest request =
        NeedsTaskCommitRequest.newBuilder().setJob(job).setAttempt(attempt).build();
    return job("NeedsTaskCommit", usual(0), stub -> stub.needsTaskCommit(request))
        .getNeedsTaskCommit();
  }

  CommitTaskResponse commitTask(JobRef job, TaskAttemptRef attempt, List<ClosedFile> files)
      throws IOException {
    return call("CommitTask", usual(files.size()), (channel, deadlineMs) ->
        new MessageStream<CommitTaskRequest, CommitTaskResponse>(
            CommitMessages.ofTask(job, attempt, files)).send(
                stream -> streaming(channel, deadlineMs).commitTask(stream)));
  }

  void abortTask(JobRef job, TaskAttemptRef attempt, List<PendingFile> files) throws IOException {
    for (List<PendingFile> batch : Batches.of(files)) {
      AbortTaskRequest request = AbortTaskRequest.newBuilder().setJob(job).setAttempt(attempt)
          .addAllFiles(batch).build();
      job("AbortTask", aborting(batch.size()), stub -> stub.abortTask(request));
    }
  }

  CommitJobResponse commitJob(CommitJobRequest request) throws IOException {
    return job("CommitJob", wholeJob(), stub -> stub.commitJob(request));
  }

  CommitJobWithPendingsetsResponse commitJobWithPendingsets(JobRef job, List<byte[]> pendingsets)
      throws IOException {
    return call("CommitJobWithPendingsets", wholeJob(), (channel, deadlineMs) ->
        new MessageStream<CommitJobWithPendingsetsRequest, CommitJobWithPendingsetsResponse>(
            CommitMessages.ofJob(job, pendingsets)).send(
                stream -> streaming(channel, deadlineMs).commitJobWithPendingsets(stream)));
  }

  AbortJobResponse abortJob(AbortJobRequest request) throws IOException {
    return job("AbortJob", wholeJob(), stub -> stub.abortJob(request));
  }

  boolean isCommitJobRepeatable(JobRef job) throws IOException {
    IsCommitJobRepeatableRequest request =
        IsCommitJobRepeatableRequest.newBuilder().setJob(job).build();
    return job("IsCommitJobRepeatable", usual(0), stub -> stub.isCommitJobRepeatable(request))
        .getRepeatable();
  }

  boolean isRecoverySupported(JobRef job) throws IOException {
    IsRecoverySupportedRequest request =
        IsRecoverySupportedRequest.newBuilder().setJob(job).build();
    return job("IsRecoverySupported", usual(0), stub -> stub.isRecoverySupported(request))
        .getSupported();
  }

  void recoverTask(JobRef job, TaskAttemptRef attempt) throws IOException {
    RecoverTaskRequest request = RecoverTaskRequest.newBuilder().setJob(job).setAttempt(attempt)
        // MapReduce recovers only attempts that its history calls successful.
        .setSucceeded(true).build();
    // It runs on the application master's dispatcher; what isn't recovered is run again.
    Limits quick = new Limits(settings.rpcTimeoutMs, settings.connectTimeoutMs,
        Math.max(settings.rpcTimeoutMs, settings.connectTimeoutMs));
    job("RecoverTask", quick, stub -> stub.recoverTask(request));
  }

  OpenFileResponse openFile(OpenFileRequest request) throws IOException {
    return upload("OpenFile", usual(0), stub -> stub.openFile(request));
  }

  SignPartsResponse signParts(SignPartsRequest request) throws IOException {
    return upload("SignParts", usual(0), stub -> stub.signParts(request));
  }

  void abortFile(JobRef job, TaskAttemptRef attempt, PendingFile file) throws IOException {
    AbortFileRequest request = AbortFileRequest.newBuilder().setJob(job).setAttempt(attempt)
        .setFile(file).build();
    upload("AbortFile", aborting(1), stub -> stub.abortFile(request));
  }

  private interface Stub<S, T> {
    ListenableFuture<T> call(S stub);
  }

  private <T> T job(String name, Limits limits, Stub<JobServiceGrpc.JobServiceFutureStub, T> call)
      throws IOException {
    return call(name, limits, (channel, deadlineMs) -> call.call(JobServiceGrpc
        .newFutureStub(channel).withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS)));
  }

  private <T> T upload(
      String name, Limits limits, Stub<UploadServiceGrpc.UploadServiceFutureStub, T> call)
      throws IOException {
    return call(name, limits, (channel, deadlineMs) -> call.call(UploadServiceGrpc
        .newFutureStub(channel).withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS)));
  }

  private static JobServiceGrpc.JobServiceStub streaming(Channel channel, long deadlineMs) {
    return JobServiceGrpc.newStub(channel).withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS);
  }

  private <T> T call(String name, Limits limits, Rpc.Call<T> call) throws IOException {
    try (Channels.Lease lease = Channels.lease(settings)) {
      return Rpc.call(lease.channels(), name, limits, progress, call);
    }
  }

  private Limits usual(int files) {
    return limits(settings.rpcRetryTimeoutMs, files);
  }

  private Limits aborting(int files) {
    return limits(Math.min(ABORT_WINDOW_MS, settings.rpcRetryTimeoutMs), files);
  }

  private Limits limits(long windowMs, int files) {
    long tryMs = settings.rpcTimeoutMs + PER_FILE_MS * files;
    return new Limits(tryMs, windowMs, Math.max(tryMs, windowMs) + windowMs);
  }

  private Limits wholeJob() {
    long total = settings.commitJobTimeoutMs;
    return new Limits(total, settings.rpcRetryTimeoutMs, total);
  }
}
