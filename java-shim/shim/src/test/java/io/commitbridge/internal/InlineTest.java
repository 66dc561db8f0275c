package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.commitbridge.BridgeOutputCommitter;
import io.commitbridge.ConfKeys;
import io.commitbridge.proto.v1.*;
import io.grpc.Status;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Small files that travel with commitTask. */
class InlineTest extends Fixture {
  private static final int KIB = 1024;

  @BeforeEach
  void takeInline() {
    daemon.maxInlineBytes = 16 * KIB;
  }

  private Path setUp() throws IOException {
    BridgeOutputCommitter committer = committer(task(0, 0));
    committer.setupTask(task(0, 0));
    return committer.getWorkPath();
  }

  private List<ClosedFile> committed() throws IOException {
    committer(task(0, 0)).commitTask(task(0, 0));
    return daemon.calls(CommitTaskRequest.class).stream()
        .flatMap(message -> message.getFiles().getFilesList().stream())
        .collect(Collectors.toList());
  }

  private int uploads() {
    return daemon.calls(OpenFileRequest.class).size();
  }

  private static long inline(List<ClosedFile> files) {
    return files.stream().filter(ClosedFile::hasInline).count();
  }

  @Test
  void smallFileTravelsWithTheCommitAndOpensNoUpload() throws Exception {
    Path path = write(setUp(), "p=1/x", bytes(1000));
    assertEquals(1000, fileSystem(path).getFileStatus(path).getLen());
    ClosedFile file = committed().get(0);
    assertEquals(0, uploads());
    assertEquals(0, store.puts.size());
    assertEquals("s3a://bucket/table/p=1/x", file.getInline().getUri());
    assertArrayEquals(bytes(1000), file.getInline().getContent().toByteArray());
    assertEquals(false, file.hasPending());
  }

  @Test
  void emptyFileToo() throws Exception {
    write(setUp(), "x", new byte[0]);
    List<ClosedFile> files = committed();
    assertEquals(1, inline(files));
    assertEquals(0, files.get(0).getInline().getContent().size());
    assertEquals(0, uploads());
  }

  @Test
  void fileOfTheLimitIsInlineAndOneByteMoreIsNot() throws Exception {
    Path work = setUp();
    write(work, "x", bytes(16 * KIB));
    write(work, "y", bytes(16 * KIB + 1));
    assertEquals("s3a://bucket/table/y", daemon.only(OpenFileRequest.class).getUri());
    List<ClosedFile> files = committed();
    assertEquals(2, files.size());
    assertEquals(1, inline(files));
    assertArrayEquals(bytes(16 * KIB + 1), store.bytes("u1"));
  }

  @Test
  void whatAnAttemptMayNotSendAnyMoreIsUploaded() throws Exception {
    daemon.maxInlineBytesPerAttempt = 40 * KIB;
    Path work = setUp();
    for (int i = 0; i < 4; i++) {
      write(work, "x" + i, bytes(16 * KIB));
    }
    write(work, "y", bytes(8 * KIB));
    List<ClosedFile> files = committed();
    assertEquals(5, files.size());
    assertEquals(3, inline(files));
    assertEquals(2, uploads());
  }

  @Test
  void overwrittenAndDeletedFilesGiveTheirBytesBack() throws Exception {
    daemon.maxInlineBytesPerAttempt = 16 * KIB;
    Path work = setUp();
    FileSystem fs = fileSystem(work);
    Path path = write(work, "x", bytes(16 * KIB));
    try (OutputStream out = fs.create(path, true)) {
      out.write(bytes(15 * KIB));
    }
    assertEquals(true, fs.delete(path, false));
    write(work, "y", bytes(16 * KIB));
    assertEquals(0, uploads());
    assertEquals(0, daemon.calls(AbortFileRequest.class).size(), "there is no upload to abort");
    List<ClosedFile> files = committed();
    assertEquals(1, files.size());
    assertEquals(1, inline(files));
  }

  @Test
  void abortNamesNothingAndLeavesNothing() throws Exception {
    write(setUp(), "x", bytes(10));
    committer(task(0, 0)).abortTask(task(0, 0));
    assertEquals(0, daemon.only(AbortTaskRequest.class).getFilesCount());
    assertEquals(0, uploads());
    assertEquals(0, AttemptRegistry.size());
  }

  @Test
  void fileOfAnEndedAttemptCannotBeClosed() throws Exception {
    Path path = new Path(setUp(), "x");
    OutputStream out = fileSystem(path).create(path);
    out.write(bytes(10));
    committer(task(0, 0)).abortTask(task(0, 0));
    assertThrows(IOException.class, out::close);
  }

  @Test
  void refusedCommitCanBeAbortedAndWrittenAgain() throws Exception {
    write(setUp(), "x", bytes(10));
    daemon.failNext("CommitTask", Status.Code.FAILED_PRECONDITION, "JOB_ABORTED", 0);
    assertThrows(IOException.class, () -> committer(task(0, 0)).commitTask(task(0, 0)));
    committer(task(0, 0)).abortTask(task(0, 0));
    assertEquals(0, daemon.only(AbortTaskRequest.class).getFilesCount());
  }

  @Test
  void limitOfZeroTurnsItOff() throws Exception {
    conf.set(ConfKeys.INLINE_LIMIT, "0");
    Path work = setUp();
    write(work, "x", bytes(10));
    write(work, "empty", new byte[0]);
    assertEquals(0, inline(committed()));
    assertEquals(2, uploads());
  }

  @Test
  void lowerLimitOfTheClientCounts() throws Exception {
    conf.set(ConfKeys.INLINE_LIMIT, "1k");
    Path work = setUp();
    write(work, "x", bytes(KIB));
    write(work, "y", bytes(KIB + 1));
    assertEquals(1, inline(committed()));
    assertEquals(1, uploads());
  }

  @Test
  void daemonThatTakesNoneGetsUploads() throws Exception {
    daemon.maxInlineBytes = 0;
    conf.set(ConfKeys.INLINE_LIMIT, "16k");
    Path work = setUp();
    write(work, "x", bytes(10));
    write(work, "empty", new byte[0]);
    assertEquals(0, inline(committed()));
    assertEquals(2, uploads());
  }

  @Test
  void manyInlineFilesGoInSeveralMessages() throws Exception {
    Path work = setUp();
    for (int i = 0; i < 63; i++) {
      write(work, "x" + i, bytes(16 * KIB));
    }
    assertEquals(63, inline(committed()));
    for (CommitTaskRequest message : daemon.calls(CommitTaskRequest.class)) {
      assertEquals(true, message.getSerializedSize() <= Batches.MAX_BYTES + KIB);
    }
  }
}
