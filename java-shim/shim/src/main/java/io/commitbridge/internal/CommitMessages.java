package io.commitbridge.internal;

import com.google.protobuf.UnsafeByteOperations;
import io.commitbridge.proto.v1.ClosedFile;
import io.commitbridge.proto.v1.ClosedFiles;
import io.commitbridge.proto.v1.CommitJobHeader;
import io.commitbridge.proto.v1.CommitJobWithPendingsetsRequest;
import io.commitbridge.proto.v1.CommitTaskHeader;
import io.commitbridge.proto.v1.CommitTaskRequest;
import io.commitbridge.proto.v1.JobRef;
import io.commitbridge.proto.v1.Pendingsets;
import io.commitbridge.proto.v1.TaskAttemptRef;
import java.util.ArrayList;
import java.util.List;

/** What the calls of several messages send: a header, then batches. */
final class CommitMessages {
  private CommitMessages() {}

  static List<CommitTaskRequest> ofTask(
      JobRef job, TaskAttemptRef attempt, List<ClosedFile> files) {
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
    return all;
  }

  /** A pendingset larger than a batch has a message of its own. Their bytes aren't copied. */
  static List<CommitJobWithPendingsetsRequest> ofJob(JobRef job, List<byte[]> pendingsets) {
    List<CommitJobWithPendingsetsRequest> all = new ArrayList<>();
    all.add(CommitJobWithPendingsetsRequest.newBuilder()
        .setHeader(CommitJobHeader.newBuilder()
            .setJob(job).setPendingsetCount(pendingsets.size()))
        .build());
    Pendingsets.Builder batch = Pendingsets.newBuilder();
    long bytes = 0;
    for (byte[] pendingset : pendingsets) {
      if (batch.getPendingsetsCount() > 0 && bytes + pendingset.length > Batches.MAX_BYTES) {
        all.add(messageOf(batch));
        batch = Pendingsets.newBuilder();
        bytes = 0;
      }
      batch.addPendingsets(UnsafeByteOperations.unsafeWrap(pendingset));
      bytes += pendingset.length + 8;
    }
    if (batch.getPendingsetsCount() > 0) {
      all.add(messageOf(batch));
    }
    return all;
  }

  private static CommitJobWithPendingsetsRequest messageOf(Pendingsets.Builder batch) {
    return CommitJobWithPendingsetsRequest.newBuilder().setBatch(batch).build();
  }
}
