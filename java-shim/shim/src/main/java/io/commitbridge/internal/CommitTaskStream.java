package io.commitbridge.internal;

import io.commitbridge.proto.v1.ClosedFile;
import io.commitbridge.proto.v1.ClosedFiles;
import io.commitbridge.proto.v1.CommitTaskHeader;
import io.commitbridge.proto.v1.CommitTaskRequest;
import io.commitbridge.proto.v1.CommitTaskResponse;
import io.commitbridge.proto.v1.JobRef;
import io.commitbridge.proto.v1.JobServiceGrpc;
import io.commitbridge.proto.v1.TaskAttemptRef;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/** One try of CommitTask: the header, then batches of files as fast as the daemon takes them. */
final class CommitTaskStream
    implements ClientResponseObserver<CommitTaskRequest, CommitTaskResponse> {
  private final Iterator<CommitTaskRequest> messages;
  private final CompletableFuture<CommitTaskResponse> result = new CompletableFuture<>();
  private ClientCallStreamObserver<CommitTaskRequest> requests;
  private CommitTaskResponse response;
  private boolean halfClosed;

  CommitTaskStream(JobRef job, TaskAttemptRef attempt, List<ClosedFile> files) {
    List<CommitTaskRequest> all = new ArrayList<>();
    all.add(CommitTaskRequest.newBuilder()
        .setHeader(CommitTaskHeader.newBuilder()
            .setJob(job).setAttempt(attempt).setFileCount(files.size()))
        .build());
    for (List<ClosedFile> batch : Batches.of(files)) {
      if (!batch.isEmpty()) {
        all.add(CommitTaskRequest.newBuilder()
            .setFiles(ClosedFiles.newBuilder().addAllFiles(batch)).build());
      }
    }
    messages = all.iterator();
  }

  Future<CommitTaskResponse> send(JobServiceGrpc.JobServiceStub stub) {
    stub.commitTask(this);
    return result;
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<CommitTaskRequest> requestStream) {
    requests = requestStream;
    requests.setOnReadyHandler(this::push);
    result.whenComplete((value, error) -> {
      if (result.isCancelled()) {
        requests.cancel("The task was interrupted", null);
      }
    });
  }

  private void push() {
    while (requests.isReady() && messages.hasNext()) {
      requests.onNext(messages.next());
    }
    if (!messages.hasNext() && !halfClosed) {
      halfClosed = true;
      requests.onCompleted();
    }
  }

  @Override
  public void onNext(CommitTaskResponse value) {
    response = value;
  }

  @Override
  public void onError(Throwable error) {
    result.completeExceptionally(error);
  }

  @Override
  public void onCompleted() {
    result.complete(response);
  }
}
