package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.commitbridge.BridgeOutputCommitter;
import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import io.commitbridge.proto.v1.*;
import io.grpc.Status;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Daemons that are away, come back, or refuse. */
class RetryTest extends Fixture {
  private static int unusedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static String stackTrace(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  @Test
  void missingDaemonFailsSetupWithinSeconds() throws Exception {
    String nowhere = "127.0.0.1:" + unusedPort();
    for (String endpoint : Arrays.asList(nowhere, "unix:///nowhere/commitbridge.sock")) {
      conf.set(ConfKeys.ENDPOINTS, endpoint);
      long start = Retry.nowMs();
      IOException e =
          assertThrows(IOException.class, () -> committer(task(0, 0)).setupJob(job()));
      assertTrue(Retry.nowMs() - start < 10_000, "took " + (Retry.nowMs() - start) + " ms");
      assertTrue(e.getMessage().contains(endpoint), e.getMessage());
      assertTrue(e.getMessage().contains(ConfKeys.ENDPOINTS), e.getMessage());
      // The default was tried once, that's enough to wait for.
      conf.set(ConfKeys.CONNECT_TIMEOUT, "1s");
      assertEquals("UNREACHABLE", ((CommitbridgeException) e).getReason());
      assertFalse(stackTrace(e).contains("StatusRuntimeException"), stackTrace(e));
    }
    conf.set(ConfKeys.ENDPOINTS, daemon.endpoint());
  }

  @Test
  void silentDaemonFailsSetupWithinSeconds() throws Exception {
    try (ServerSocket silent = new ServerSocket(0)) {
      conf.set(ConfKeys.ENDPOINTS, "127.0.0.1:" + silent.getLocalPort());
      conf.set(ConfKeys.CONNECT_TIMEOUT, "2s");
      long start = Retry.nowMs();
      IOException e =
          assertThrows(IOException.class, () -> committer(task(0, 0)).setupJob(job()));
      assertTrue(Retry.nowMs() - start < 8_000, "took " + (Retry.nowMs() - start) + " ms");
      assertTrue(e.getMessage().contains(ConfKeys.ENDPOINTS), e.getMessage());
    }
  }

  @Test
  void nextEndpointTakesOver() throws Exception {
    conf.set(ConfKeys.ENDPOINTS, "127.0.0.1:" + unusedPort() + "," + daemon.endpoint());
    long start = Retry.nowMs();
    committer(task(0, 0)).setupJob(job());
    assertTrue(Retry.nowMs() - start < 3_000);
    daemon.only(SetupJobRequest.class);
  }

  @Test
  void daemonThatDiesInACallIsWaitedFor() throws Exception {
    TaskAttemptRef ref = Attempts.attempt(attemptId(0, 0));
    write(committer(task(0, 0)).getWorkPath(), "x", bytes(10));
    daemon.onNext("CommitTask", request -> {
      Thread killer = new Thread(() -> {
        try {
          daemon.kill();
          Thread.sleep(1_500);
          daemon.restart();
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
      });
      killer.start();
      Thread.sleep(60_000);
    });
    committer(task(0, 0)).commitTask(task(0, 0));
    List<CommitTaskRequest> sent = daemon.calls(CommitTaskRequest.class);
    assertEquals(2, sent.stream().filter(CommitTaskRequest::hasHeader)
        .filter(message -> message.getHeader().getAttempt().equals(ref)).count());
    assertEquals(2, sent.stream().filter(CommitTaskRequest::hasFiles).count(), "sent as a whole");
  }

  @Test
  void unavailableStoreIsWaitedForAsLongAsTheServerSays() throws Exception {
    daemon.failNext("CommitJob", Status.Code.UNAVAILABLE, "STORE_UNAVAILABLE", 1_200);
    long start = Retry.nowMs();
    committer(task(0, 0)).commitJob(job());
    assertTrue(Retry.nowMs() - start >= 1_200);
    assertEquals(2, daemon.calls(CommitJobRequest.class).size());
  }

  @Test
  void unavailableStoreIsGivenUpAfterTheWindow() throws Exception {
    conf.set(ConfKeys.RPC_RETRY_TIMEOUT, "1s");
    for (int i = 0; i < 50; i++) {
      daemon.failNext("CommitJob", Status.Code.UNAVAILABLE, "STORE_UNAVAILABLE", 200);
    }
    long start = Retry.nowMs();
    CommitbridgeException e = assertThrows(
        CommitbridgeException.class, () -> committer(task(0, 0)).commitJob(job()));
    assertEquals("STORE_UNAVAILABLE", e.getReason());
    assertTrue(Retry.nowMs() - start < 5_000);
    assertTrue(daemon.calls(CommitJobRequest.class).size() > 2);
  }

  @Test
  void refusalsAreNotRepeated() throws Exception {
    daemon.failNext("CommitJob", Status.Code.FAILED_PRECONDITION, "JOB_ABORTED", 0);
    CommitbridgeException e = assertThrows(
        CommitbridgeException.class, () -> committer(task(0, 0)).commitJob(job()));
    assertEquals("JOB_ABORTED", e.getReason());
    assertTrue(e.getMessage().contains("told so by the test"), e.getMessage());
    assertFalse(stackTrace(e).contains("StatusRuntimeException"), stackTrace(e));
    daemon.only(CommitJobRequest.class);
  }

  @Test
  void lostRaceIsRepeated() throws Exception {
    daemon.failNext("AbortJob", Status.Code.ABORTED, "CONCURRENT_OPERATION", 0);
    committer(task(0, 0)).abortJob(job(), org.apache.hadoop.mapreduce.JobStatus.State.FAILED);
    assertEquals(2, daemon.calls(AbortJobRequest.class).size());
  }

  @Test
  void callWithoutAnswerIsRepeated() throws Exception {
    conf.set(ConfKeys.RPC_TIMEOUT, "1s");
    daemon.onNext("NeedsTaskCommit", request -> Thread.sleep(4_000));
    assertTrue(committer(task(0, 0)).needsTaskCommit(task(0, 0)));
    assertEquals(2, daemon.calls(NeedsTaskCommitRequest.class).size());
  }

  @Test
  void tokenFileIsSentAndReadAgain(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("token");
    Files.write(file, "first\n".getBytes(StandardCharsets.UTF_8));
    conf.set(ConfKeys.AUTH_TOKEN_FILE, file.toString());
    BridgeOutputCommitter committer = committer(task(0, 0));
    committer.commitJob(job());
    Files.write(file, "second-one\n".getBytes(StandardCharsets.UTF_8));
    committer.commitJob(job());
    assertEquals(Arrays.asList("Bearer first", "Bearer second-one"), daemon.authorizations);
    Files.delete(file);
    IOException e = assertThrows(IOException.class, () -> committer.commitJob(job()));
    assertTrue(e.getMessage().contains(ConfKeys.AUTH_TOKEN_FILE), e.getMessage());
  }

  @Test
  void manyFilesGoInBatches() throws Exception {
    List<ClosedFile> files = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      files.add(ClosedFile.newBuilder().setPending(PendingFile.newBuilder()
          .setUri("s3a://bucket/table/some/long/partition=" + i + "/part-00000.snappy.parquet")
          .setUploadId("an-upload-id-as-long-as-those-of-aws-are-" + i)).build());
    }
    DaemonClient client = new DaemonClient(new Settings(conf), Progress.NONE);
    JobRef job = Attempts.job(Collections.singletonList("t"), 0, "s3a://bucket/table");
    assertEquals(20_000,
        client.commitTask(job, Attempts.attempt(attemptId(0, 0)), files).getFiles());
    List<CommitTaskRequest> sent = daemon.calls(CommitTaskRequest.class);
    assertTrue(sent.size() > 4, sent.size() + " messages");
    for (CommitTaskRequest message : sent) {
      assertTrue(message.getSerializedSize() <= 600 * 1024);
    }
  }
}
