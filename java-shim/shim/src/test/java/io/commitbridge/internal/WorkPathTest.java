package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.commitbridge.BridgeOutputCommitter;
import io.commitbridge.BridgeParquetOutputCommitter;
import io.commitbridge.ConfKeys;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class WorkPathTest extends Fixture {
  @Test
  void isAPureFunctionOfConfigurationAndAttempt() throws Exception {
    Path first = committer(task(3, 1)).getWorkPath();
    assertEquals(first, committer(task(3, 1)).getWorkPath());
    assertEquals(first, new BridgeParquetOutputCommitter(DESTINATION, task(3, 1)).getWorkPath());
    assertEquals(first, committer(task(0, 0)).getTaskAttemptPath(task(3, 1)));
    assertNotEquals(first, committer(task(3, 2)).getWorkPath());
    assertNotEquals(first, new BridgeOutputCommitter(new Path("s3a://bucket/other"), task(3, 1))
        .getWorkPath());
    assertEquals(0, daemon.calls.size(), "constructors and paths send nothing");
  }

  @Test
  void settingsAreInTheAuthority() throws Exception {
    Path first = committer(task(3, 1)).getWorkPath();
    conf.set(ConfKeys.ENDPOINTS, "127.0.0.1:1");
    assertNotEquals(first.toUri().getAuthority(),
        committer(task(3, 1)).getWorkPath().toUri().getAuthority());
    conf.set(ConfKeys.ENDPOINTS, daemon.endpoint());
  }

  @Test
  void finalUriIsNeitherEncodedNorDecoded() throws Exception {
    Path destination = new Path("s3a://bucket/a b%20c/ü+t");
    Path work = new BridgeOutputCommitter(destination, task(0, 0)).getWorkPath();
    Path file = new Path(work, "day=2026-01-01%2000%3A00/part 0+ü.csv");
    assertEquals("s3a://bucket/a b%20c/ü+t/day=2026-01-01%2000%3A00/part 0+ü.csv",
        WorkPath.parse(file).finalUri());
  }

  @Test
  void destinationMayBeTheBucket() throws Exception {
    Path work = new BridgeOutputCommitter(new Path("s3a://bucket/"), task(0, 0)).getWorkPath();
    assertEquals("s3a://bucket/x", WorkPath.parse(new Path(work, "x")).finalUri());
  }

  @Test
  void destinationWithoutSchemeIsTheDefaultFileSystems() throws Exception {
    conf.set("fs.defaultFS", "s3a://bucket");
    BridgeOutputCommitter committer = new BridgeOutputCommitter(new Path("/table"), task(0, 0));
    assertEquals(new Path("s3a://bucket/table"), committer.getOutputPath());
    assertEquals("commitbridge", committer.getWorkPath().toUri().getScheme());
  }

  @Test
  void filesUnderOtherNamesOfTheJobFailTheCommit() throws Exception {
    write(committer(task(3, 1)).getWorkPath(), "x", bytes(10));
    conf.set(ConfKeys.JOB_TOKEN, "set-in-between");
    assertThrows(IOException.class, () -> committer(task(3, 1)).commitTask(task(3, 1)));
    conf.unset(ConfKeys.JOB_TOKEN);
    committer(task(3, 1)).abortTask(task(3, 1));
  }

  @Test
  void pathsOfAnotherCopyOfTheClassesAreRefused() {
    assertThrows(IOException.class, () -> FileSystem.newInstance(
        URI.create("commitbridge://0123456789abcdef-ffffffff/"), withImpl(conf)));
  }

  private static Configuration withImpl(Configuration conf) {
    Configuration copy = new Configuration(conf);
    copy.set("fs.commitbridge.impl", "io.commitbridge.BridgeFileSystem");
    return copy;
  }
}
