package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.commitbridge.BridgeOutputCommitter;
import io.commitbridge.ConfKeys;
import java.io.IOException;
import java.io.OutputStream;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A daemon, a store, and a configuration that names them. */
abstract class Fixture {
  static final Path DESTINATION = new Path("s3a://bucket/table");
  /** Another one for each test, as for each write: an attempt that ended takes no more files. */
  final String uuid = UUID.randomUUID().toString();
  FakeStore store;
  FakeDaemon daemon;
  Configuration conf;

  @BeforeEach
  void start() throws IOException {
    store = new FakeStore();
    daemon = new FakeDaemon(store);
    // Contexts copy any other kind of Configuration, and setupJob puts the made token into it.
    conf = new JobConf(false);
    conf.set(ConfKeys.ENDPOINTS, daemon.endpoint());
    conf.set(ConfKeys.RPC_TIMEOUT, "10s");
    conf.set(ConfKeys.RPC_RETRY_TIMEOUT, "20s");
    conf.set(JobTokens.SPARK_WRITE_UUID, uuid);
    conf.set("fs.file.impl", "org.apache.hadoop.fs.LocalFileSystem");
  }

  @AfterEach
  void stop() throws Exception {
    daemon.close();
    store.close();
    assertEquals(0, AttemptRegistry.size(), "attempts left in the registry");
    assertEquals(0, Channels.leases(new Settings(conf)), "leases left on the channels");
  }

  static TaskAttemptID attemptId(int task, int attempt) {
    return new TaskAttemptID("20260101", 7, TaskType.MAP, task, attempt);
  }

  TaskAttemptContext task(int task, int attempt) {
    return new TaskAttemptContextImpl(conf, attemptId(task, attempt));
  }

  JobContext job() {
    return new JobContextImpl(conf, null);
  }

  JobContext job(String jobId) {
    return new JobContextImpl(conf, JobID.forName(jobId));
  }

  BridgeOutputCommitter committer(TaskAttemptContext context) throws IOException {
    return new BridgeOutputCommitter(DESTINATION, context);
  }

  FileSystem fileSystem(Path path) throws IOException {
    return path.getFileSystem(conf);
  }

  Path write(Path work, String name, byte[] bytes) throws IOException {
    Path path = new Path(work, name);
    try (OutputStream out = fileSystem(path).create(path, false)) {
      out.write(bytes);
    }
    return path;
  }

  static byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    for (int i = 0; i < count; i++) {
      bytes[i] = (byte) (i * 31 + i / 251);
    }
    return bytes;
  }
}
