package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import io.commitbridge.proto.v1.*;
import io.grpc.Status;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** From a stream to the parts at the store. */
class UploadTest extends Fixture {
  private static final int MIB = 1024 * 1024;
  private Path work;

  @BeforeEach
  void open() throws IOException {
    conf.set(ConfKeys.UPLOAD_RETRY_TIMEOUT, "3s");
    work = committer(task(0, 0)).getWorkPath();
  }

  @AfterEach
  void abort() throws IOException {
    if (store.gate != null) {
      store.gate.release(1_000);
    }
    committer(task(0, 0)).abortTask(task(0, 0));
  }

  /** A committer after a change of the configuration, which changes the path. */
  private void reopen(String key, String value) throws IOException {
    conf.set(key, value);
    work = committer(task(0, 0)).getWorkPath();
  }

  private ClosedFile committed() throws IOException {
    committer(task(0, 0)).commitTask(task(0, 0));
    List<ClosedFile> files = daemon.calls(CommitTaskRequest.class).stream()
        .flatMap(message -> message.getFiles().getFilesList().stream())
        .collect(Collectors.toList());
    assertEquals(1, files.size());
    return files.get(0);
  }

  @Test
  void emptyFileHasOnePartOfNoBytes() throws Exception {
    write(work, "x", new byte[0]);
    ClosedFile file = committed();
    assertEquals(1, file.getPartsCount());
    assertEquals(UploadedPart.newBuilder().setPartNumber(1).setEtag("\"e1\"").setSizeBytes(0)
        .build(), file.getParts(0));
    assertEquals(0, store.bytes("u1").length);
  }

  @Test
  void smallFileIsOneOpenAndOnePut() throws Exception {
    write(work, "p=1/x", bytes(1000));
    assertEquals(1, daemon.only(OpenFileRequest.class).getPartsToSign());
    assertEquals("s3a://bucket/table/p=1/x", daemon.only(OpenFileRequest.class).getUri());
    assertEquals(1, store.puts.size());
    assertTrue(store.puts.get(0).contains(" sent 1000"), "headers of the part: " + store.puts);
    assertArrayEquals(bytes(1000), store.bytes("u1"));
    assertEquals("u1", committed().getPending().getUploadId());
  }

  @Test
  void nothingIsSentBeforeAPartIsFull() throws Exception {
    Path path = new Path(work, "x");
    try (OutputStream out = fileSystem(path).create(path)) {
      out.write(bytes(7 * MIB));
      out.flush();
      assertEquals(0, daemon.calls.size());
      out.write(bytes(2 * MIB));
      assertEquals(1, daemon.calls(OpenFileRequest.class).size());
    }
  }

  @Test
  void largeFileGoesInPartsOfTheSignedSize() throws Exception {
    daemon.partBytes = 5 * MIB;
    byte[] content = bytes(23 * MIB + 17);
    Path path = new Path(work, "x");
    try (OutputStream out = fileSystem(path).create(path)) {
      for (int i = 0; i < content.length; ) {
        int count = Math.min(100_003, content.length - i);
        out.write(content, i, count);
        i += count;
      }
    }
    ClosedFile file = committed();
    assertEquals(5, file.getPartsCount());
    for (int i = 0; i < 5; i++) {
      assertEquals(i + 1, file.getParts(i).getPartNumber());
      assertEquals(i < 4 ? 5 * MIB : 3 * MIB + 17, file.getParts(i).getSizeBytes());
    }
    assertArrayEquals(content, store.bytes("u1"));
  }

  @Test
  void fileOfExactlyTwoPartsHasTwo() throws Exception {
    daemon.partBytes = 5 * MIB;
    write(work, "x", bytes(10 * MIB));
    assertEquals(2, committed().getPartsCount());
    assertArrayEquals(bytes(10 * MIB), store.bytes("u1"));
  }

  @Test
  void fileBelowTheAssumedPartMayStillNeedTwo() throws Exception {
    daemon.partBytes = 5 * MIB;
    write(work, "x", bytes(7 * MIB));
    assertEquals(2, committed().getPartsCount());
    assertArrayEquals(bytes(7 * MIB), store.bytes("u1"));
  }

  @Test
  void moreThanEightPartsAreSignedInBatches() throws Exception {
    daemon.partBytes = MIB;
    write(work, "x", bytes(20 * MIB));
    assertEquals(20, committed().getPartsCount());
    assertArrayEquals(bytes(20 * MIB), store.bytes("u1"));
    assertTrue(daemon.calls(SignPartsRequest.class).size() <= 3);
  }

  @Test
  void partsLargerThanAssumedAreWaitedFor() throws Exception {
    daemon.partBytes = 12 * MIB;
    write(work, "x", bytes(25 * MIB));
    assertEquals(3, committed().getPartsCount());
    assertArrayEquals(bytes(25 * MIB), store.bytes("u1"));
  }

  @Test
  void writerWaitsWhereAllThreadsAreBusy() throws Exception {
    daemon.partBytes = MIB;
    reopen(ConfKeys.UPLOAD_PARALLELISM, "2");
    store.gate = new Semaphore(0);
    Path path = new Path(work, "x");
    OutputStream out = fileSystem(path).create(path);
    out.write(bytes(1));
    Thread writer = startWriting(out, 40);
    Thread.sleep(1_500);
    // 8 MiB stand in the first buffer; it's being cut into parts, two of which are under way.
    assertEquals(8 * MIB, fileSystem(path).getFileStatus(path).getLen(), "bytes taken in");
    assertTrue(writer.isAlive());
    store.gate.release(1_000);
    writer.join(20_000);
    assertFalse(writer.isAlive());
    assertEquals(2, store.maxInFlight.get());
    assertEquals(40 * MIB + 1, store.bytes("u1").length);
  }

  private static Thread startWriting(OutputStream out, int mebibytes) {
    Thread writer = new Thread(() -> {
      try {
        for (int i = 0; i < mebibytes; i++) {
          out.write(bytes(MIB));
        }
        out.close();
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    });
    writer.start();
    return writer;
  }

  @Test
  void writerThatWaitsReportsProgress() throws Exception {
    daemon.partBytes = MIB;
    reopen(ConfKeys.UPLOAD_PARALLELISM, "2");
    store.gate = new Semaphore(0);
    Path path = new Path(work, "x");
    CountDownLatch reported = new CountDownLatch(1);
    OutputStream out = fileSystem(path).create(path, reported::countDown);
    Thread writer = startWriting(out, 9);
    assertTrue(reported.await(10, TimeUnit.SECONDS), "progress while no part is taken");
    store.gate.release(1_000);
    writer.join(20_000);
    assertEquals(9 * MIB, store.bytes("u1").length);
  }

  @Test
  void closeReportsProgressBetweenTheTriesOfTheLastPart() throws Exception {
    AtomicInteger reports = new AtomicInteger();
    Path path = new Path(work, "x");
    OutputStream out = fileSystem(path).create(path, reports::incrementAndGet);
    out.write(bytes(1000));
    store.statuses.add(503);
    out.close();
    assertEquals(1, reports.get());
  }

  @Test
  void closeReportsProgressWhileTheDaemonOpensTheFile() throws Exception {
    AtomicInteger reports = new AtomicInteger();
    Path path = new Path(work, "x");
    OutputStream out = fileSystem(path).create(path, reports::incrementAndGet);
    out.write(bytes(1000));
    daemon.onNext("OpenFile", request -> Thread.sleep(1_500));
    out.close();
    assertEquals(1, reports.get());
  }

  @Test
  void largePartsGoOneByOneForTheMemoryTheyTake() throws Exception {
    daemon.partBytes = 40 * MIB;
    write(work, "large", bytes(3 * 40 * MIB));
    assertEquals(3, committed().getPartsCount());
    assertEquals(1, store.maxInFlight.get());
  }

  @Test
  void partIsSentAgainFromItsBuffer() throws Exception {
    store.statuses.add(500);
    store.statuses.add(0);
    store.statuses.add(429);
    write(work, "x", bytes(1000));
    assertEquals(4, store.puts.size());
    assertArrayEquals(bytes(1000), store.bytes("u1"));
    assertEquals(1, committed().getPartsCount());
  }

  @Test
  void refusedUrlIsSignedAgain() throws Exception {
    store.statuses.add(403);
    write(work, "x", bytes(1000));
    SignPartsRequest again = daemon.only(SignPartsRequest.class);
    assertEquals(1, again.getFirstPartNumber());
    assertEquals("u1", again.getFile().getUploadId());
    assertFalse(store.puts.get(0).equals(store.puts.get(1)), "another URL: " + store.puts);
    assertEquals(1, committed().getPartsCount());
  }

  @Test
  void expiredUrlIsNotTried() throws Exception {
    daemon.expiresInSeconds = -5;
    write(work, "x", bytes(1000));
    assertEquals(1, store.puts.size());
    assertEquals(1, daemon.calls(SignPartsRequest.class).size());
  }

  @Test
  void refusalThatStaysFailsTheFileWithASentence() throws Exception {
    for (int i = 0; i < 10; i++) {
      store.statuses.add(403);
    }
    IOException e = assertThrows(IOException.class, () -> write(work, "x", bytes(1000)));
    assertTrue(e.getMessage().contains("s3a://bucket/table/x"), e.getMessage());
    assertTrue(e.getMessage().contains("Part 1"), e.getMessage());
    assertTrue(e.getMessage().contains("403"), e.getMessage());
    assertFalse(e.getMessage().contains("secret"), e.getMessage());
    assertEquals(4, store.puts.size());
  }

  @Test
  void storeThatStaysAwayIsGivenUpWithTheKeyToChange() throws Exception {
    for (int i = 0; i < 100; i++) {
      store.statuses.add(503);
    }
    long start = Retry.nowMs();
    CommitbridgeException e = assertThrows(
        CommitbridgeException.class, () -> write(work, "x", bytes(1000)));
    assertTrue(Retry.nowMs() - start < 10_000);
    assertTrue(e.getMessage().contains(ConfKeys.UPLOAD_RETRY_TIMEOUT), e.getMessage());
    assertTrue(e.getMessage().contains("503"), e.getMessage());
  }

  @Test
  void otherRefusalsAreNotRepeated() throws Exception {
    store.statuses.add(400);
    assertThrows(IOException.class, () -> write(work, "x", bytes(1000)));
    assertEquals(1, store.puts.size());
  }

  @Test
  void answerWithoutAnEtagFailsTheFile() throws Exception {
    store.sendEtag = false;
    IOException e = assertThrows(IOException.class, () -> write(work, "x", bytes(1000)));
    assertTrue(e.getMessage().contains("ETag"), e.getMessage());
  }

  @Test
  void failedFileFailsWritesCloseAndCommit() throws Exception {
    daemon.partBytes = MIB;
    store.statuses.add(400);
    Path path = new Path(work, "x");
    OutputStream out = fileSystem(path).create(path);
    assertThrows(IOException.class, () -> {
      for (int i = 0; i < 1_000; i++) {
        out.write(bytes(MIB));
      }
    });
    assertTrue(store.puts.size() < 20, store.puts.size() + " parts after the failure");
    assertThrows(IOException.class, out::close);
    assertThrows(IOException.class, out::close);
    IOException e =
        assertThrows(IOException.class, () -> committer(task(0, 0)).commitTask(task(0, 0)));
    assertTrue(e.getMessage().contains("writing s3a://bucket/table/x failed"), e.getMessage());
    assertEquals(0, daemon.calls(CommitTaskRequest.class).size());
    committer(task(0, 0)).abortTask(task(0, 0));
    assertEquals(1, daemon.only(AbortTaskRequest.class).getFilesCount());
  }

  @Test
  void failedOpenFailsTheClose() throws Exception {
    daemon.failNext("OpenFile", Status.Code.INVALID_ARGUMENT, "KEY_TOO_LONG", 0);
    CommitbridgeException e = assertThrows(
        CommitbridgeException.class, () -> write(work, "x", bytes(10)));
    assertEquals("KEY_TOO_LONG", e.getReason());
  }
}
