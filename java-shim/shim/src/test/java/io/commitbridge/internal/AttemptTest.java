package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.commitbridge.BridgeOutputCommitter;
import io.commitbridge.BridgeParquetOutputCommitter;
import io.commitbridge.proto.v1.*;
import io.grpc.Status;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** Files of an attempt: what the FileSystem says of them, and who ends them. */
class AttemptTest extends Fixture {
  private long filesCommitted() {
    return daemon.calls(CommitTaskRequest.class).stream()
        .mapToLong(message -> message.getFiles().getFilesCount()).sum();
  }

  @Test
  void anotherInstanceCommitsWhatTheFirstsPathTook() throws Exception {
    write(committer(task(1, 0)).getWorkPath(), "x", bytes(10));
    committer(task(1, 0)).commitTask(task(1, 0));
    assertEquals(1, filesCommitted());
  }

  @Test
  void commitRepeatedInThisJvmFindsNothingToSend() throws Exception {
    BridgeOutputCommitter committer = committer(task(1, 0));
    write(committer.getWorkPath(), "x", bytes(10));
    committer.commitTask(task(1, 0));
    assertEquals(0, AttemptRegistry.size());
    committer.abortTask(task(1, 0));
    assertEquals(0, daemon.only(AbortTaskRequest.class).getFilesCount());
  }

  @Test
  void failedCommitThenTwoAborts() throws Exception {
    BridgeOutputCommitter committer = committer(task(1, 0));
    write(committer.getWorkPath(), "x", bytes(10));
    daemon.failNext("CommitTask", Status.Code.FAILED_PRECONDITION, "JOB_ABORTED", 0);
    assertThrows(IOException.class, () -> committer.commitTask(task(1, 0)));
    committer.abortTask(task(1, 0));
    committer.abortTask(task(1, 0));
    assertEquals(Arrays.asList(1, 0), Arrays.asList(
        daemon.calls(AbortTaskRequest.class).get(0).getFilesCount(),
        daemon.calls(AbortTaskRequest.class).get(1).getFilesCount()));
    assertEquals(0, AttemptRegistry.size());
  }

  @Test
  void abortFromAProcessThatWroteNothing() throws Exception {
    committer(task(9, 0)).abortTask(task(9, 0));
    assertEquals(0, daemon.only(AbortTaskRequest.class).getFilesCount());
    daemon.failNext("AbortTask", Status.Code.NOT_FOUND, "JOB_NOT_FOUND", 0);
    committer(task(9, 0)).abortTask(task(9, 0));
  }

  @Test
  void killedTaskIsAbortedInSpiteOfItsInterrupt() throws Exception {
    BridgeOutputCommitter committer = committer(task(1, 0));
    write(committer.getWorkPath(), "x", bytes(10));
    Thread.currentThread().interrupt();
    committer.abortTask(task(1, 0));
    assertTrue(Thread.interrupted(), "the interrupt is still there");
    assertEquals(1, daemon.only(AbortTaskRequest.class).getFilesCount());
  }

  @Test
  void abortStopsUploadsThatAreUnderWay() throws Exception {
    store.gate = new Semaphore(0);
    daemon.partBytes = 1024 * 1024;
    BridgeOutputCommitter committer = committer(task(1, 0));
    Path path = new Path(committer.getWorkPath(), "x");
    OutputStream out = fileSystem(path).create(path);
    Thread writer = new Thread(() -> {
      try {
        out.write(bytes(20 * 1024 * 1024));
      } catch (IOException e) {
        // What the test waits for.
      }
    });
    writer.start();
    while (store.puts.size() < 4) {
      Thread.sleep(20);
    }
    committer.abortTask(task(1, 0));
    writer.join(5_000);
    assertFalse(writer.isAlive(), "the writer is told");
    assertEquals(4, store.puts.size(), "no part is sent after the abort");
    assertThrows(IOException.class, out::close);
    assertThrows(IOException.class, () -> fileSystem(path).create(path), "the attempt has ended");
    assertEquals("u1", daemon.only(AbortTaskRequest.class).getFiles(0).getUploadId());
    store.gate.release(100);
  }

  @Test
  void openFileFailsTheCommit() throws Exception {
    BridgeOutputCommitter committer = committer(task(1, 0));
    Path path = new Path(committer.getWorkPath(), "x");
    OutputStream out = fileSystem(path).create(path);
    IOException e = assertThrows(IOException.class, () -> committer.commitTask(task(1, 0)));
    assertTrue(e.getMessage().contains("still open"), e.getMessage());
    out.close();
    committer.commitTask(task(1, 0));
    assertEquals(1, filesCommitted());
  }

  @Test
  void parquetCommitterDoesTheSame() throws Exception {
    BridgeParquetOutputCommitter committer =
        new BridgeParquetOutputCommitter(DESTINATION, task(1, 0));
    conf.set("parquet.summary.metadata.level", "ALL");
    committer.setupJob(job());
    committer.setupTask(task(1, 0));
    write(committer.getWorkPath(), "x.parquet", bytes(10));
    committer.commitTask(task(1, 0));
    committer.commitJob(job());
    daemon.only(CommitJobRequest.class);
    assertEquals(1, filesCommitted());
  }

  @Test
  void overwritingGivesTheOldUploadUp() throws Exception {
    BridgeOutputCommitter committer = committer(task(1, 0));
    Path path = write(committer.getWorkPath(), "x", bytes(10));
    FileSystem fs = fileSystem(path);
    assertThrows(FileAlreadyExistsException.class, () -> fs.create(path, false));
    try (OutputStream out = fs.create(path, true)) {
      out.write(bytes(20));
    }
    assertEquals("u1", daemon.only(AbortFileRequest.class).getFile().getUploadId());
    assertEquals(20, fs.getFileStatus(path).getLen());
    committer.commitTask(task(1, 0));
    assertEquals(1, filesCommitted());
    assertArrayEquals(bytes(20), store.bytes("u2"));
  }

  @Test
  void uploadThatCouldNotBeGivenUpIsNamedByTheAbort() throws Exception {
    BridgeOutputCommitter committer = committer(task(1, 0));
    Path path = write(committer.getWorkPath(), "x", bytes(10));
    daemon.failNext("AbortFile", Status.Code.PERMISSION_DENIED, "STORE_ACCESS_DENIED", 0);
    assertTrue(fileSystem(path).delete(path, false));
    committer.abortTask(task(1, 0));
    assertEquals("u1", daemon.only(AbortTaskRequest.class).getFiles(0).getUploadId());
  }

  @Test
  void deletedFilesAreNotCommitted() throws Exception {
    BridgeOutputCommitter committer = committer(task(1, 0));
    Path work = committer.getWorkPath();
    Path kept = write(work, "a/x", bytes(1));
    write(work, "ab", bytes(2));
    Path dropped = write(work, "b/y", bytes(3));
    FileSystem fs = fileSystem(work);
    assertThrows(IOException.class, () -> fs.delete(dropped.getParent(), false));
    assertTrue(fs.delete(dropped.getParent(), true));
    assertFalse(fs.delete(dropped, true));
    assertFalse(fs.exists(dropped));
    assertTrue(fs.exists(kept));
    committer.commitTask(task(1, 0));
    assertEquals(2, filesCommitted());
  }

  @Test
  void statusesAreThoseOfAFileSystem() throws Exception {
    BridgeOutputCommitter committer = committer(task(1, 0));
    Path work = committer.getWorkPath();
    FileSystem fs = fileSystem(work);
    assertTrue(fs.getFileStatus(work).isDirectory());
    assertTrue(fs.mkdirs(new Path(work, "d=1")));
    Path path = new Path(work, "d=1/e=%3A/x");
    try (OutputStream out = fs.create(path)) {
      out.write(bytes(5));
      assertEquals(5, fs.getFileStatus(path).getLen());
    }
    write(work, "d=1/y", bytes(7));
    assertEquals(5, fs.getFileStatus(path).getLen());
    assertTrue(fs.getFileStatus(path.getParent()).isDirectory());
    assertThrows(FileNotFoundException.class, () -> fs.getFileStatus(new Path(work, "d")));
    assertThrows(FileNotFoundException.class, () -> fs.listStatus(new Path(work, "d")));
    FileStatus[] children = fs.listStatus(new Path(work, "d=1"));
    assertEquals(2, children.length);
    assertEquals(path.getParent(), children[0].getPath());
    assertTrue(children[0].isDirectory());
    assertEquals(7, children[1].getLen());
    assertThrows(FileAlreadyExistsException.class, () -> fs.create(new Path(work, "d=1")));
    committer.abortTask(task(1, 0));
  }

  @Test
  void readingAppendingAndRenamingAreRefused() throws Exception {
    Path path = new Path(committer(task(1, 0)).getWorkPath(), "x");
    FileSystem fs = fileSystem(path);
    assertThrows(UnsupportedOperationException.class, () -> fs.open(path));
    assertThrows(UnsupportedOperationException.class, () -> fs.append(path));
    assertThrows(UnsupportedOperationException.class, () -> fs.rename(path, path));
    assertThrows(IOException.class, () -> fs.create(path.getParent().getParent()));
  }

  @Test
  @SuppressWarnings("deprecation")
  void bytesAreCountedOnTheWritersThread() throws Exception {
    BridgeOutputCommitter committer = committer(task(1, 0));
    Path path = new Path(committer.getWorkPath(), "x");
    FileSystem fs = fileSystem(path);
    long before = bytesOfThisThread();
    try (OutputStream out = fs.createNonRecursive(path, true, 1, (short) 1, 1L, null)) {
      out.write(bytes(1000));
      out.write(1);
    }
    assertEquals(1001, bytesOfThisThread() - before);
    committer.abortTask(task(1, 0));
  }

  /** As Spark counts: whatever the scheme. */
  @SuppressWarnings("deprecation")
  private static long bytesOfThisThread() {
    return FileSystem.getAllStatistics().stream()
        .mapToLong(statistics -> statistics.getThreadStatistics().getBytesWritten()).sum();
  }
}
