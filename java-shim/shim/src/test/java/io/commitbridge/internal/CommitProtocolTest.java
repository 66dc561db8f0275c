package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import io.commitbridge.proto.v1.*;
import io.commitbridge.spark.BridgeCommitProtocol;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.apache.spark.internal.io.FileNameSpec;
import org.apache.spark.internal.io.HadoopMapReduceCommitProtocol;
import org.apache.spark.mapred.SparkHadoopMapRedUtil;
import org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.collection.mutable.ArrayBuffer;

/** Spark's commit protocol, called as Spark calls it; s3a has no FileSystem class here. */
class CommitProtocolTest extends Fixture {
  private static final String WRITE = "2dd664f9-d2c4-4ffe-878f-c6c70c1fb0cb";
  private static final FileNameSpec SPEC = new FileNameSpec("", "-c000.snappy.parquet");

  @BeforeEach
  void likeSparkSql() {
    SparkHadoopMapRedUtil.ASKED.clear();
    SparkHadoopMapRedUtil.isAllowed = true;
    assertThrows(UnsupportedFileSystemException.class, () -> DESTINATION.getFileSystem(conf));
  }

  private static BridgeCommitProtocol protocol(boolean dynamic) {
    return new BridgeCommitProtocol(WRITE, DESTINATION.toString(), dynamic);
  }

  /** What a task has: the protocol comes serialised. */
  static BridgeCommitProtocol sent(BridgeCommitProtocol protocol) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(protocol);
    }
    return (BridgeCommitProtocol) new ObjectInputStream(
        new ByteArrayInputStream(bytes.toByteArray())).readObject();
  }

  private void write(String path, byte[] bytes) throws IOException {
    Path file = new Path(path);
    write(file.getParent(), file.getName(), bytes);
  }

  private static scala.collection.Seq<TaskCommitMessage> messages(TaskCommitMessage... all) {
    ArrayBuffer<TaskCommitMessage> buffer = new ArrayBuffer<>();
    for (TaskCommitMessage each : all) {
      buffer.$plus$eq(each);
    }
    return buffer;
  }

  @Test
  void hasTheMethodsOfBothScalasAndOfEverySpark() throws Exception {
    Class<?> type = BridgeCommitProtocol.class;
    for (Class<?> seq : Arrays.asList(
        scala.collection.Seq.class, scala.collection.immutable.Seq.class)) {
      assertEquals(void.class, type.getDeclaredMethod("commitJob", JobContext.class, seq)
          .getReturnType());
    }
    for (Class<?> name : Arrays.asList(String.class, FileNameSpec.class)) {
      assertEquals(String.class, type.getDeclaredMethod("newTaskTempFile",
          TaskAttemptContext.class, Option.class, name).getReturnType());
      assertEquals(String.class, type.getDeclaredMethod("newTaskTempFileAbsPath",
          TaskAttemptContext.class, String.class, name).getReturnType());
    }
    type.getDeclaredConstructor(String.class, String.class, boolean.class);
    type.getDeclaredConstructor(String.class, String.class);
    Set<String> own = new HashSet<>();
    for (Method method : type.getDeclaredMethods()) {
      own.add(method.getName());
    }
    for (Method method : FileCommitProtocol.class.getDeclaredMethods()) {
      String name = method.getName();
      boolean isSparks = Arrays.stream(method.getParameterTypes()).anyMatch(parameter ->
          parameter.getName().startsWith("org.apache.hadoop"));
      assertTrue(!isSparks || own.contains(name), name);
    }
  }

  @Test
  void jobIsCommittedWithExactlyTheAttemptsOfTheMessages() throws Exception {
    BridgeCommitProtocol driver = protocol(false);
    driver.setupJob(job());
    List<TaskCommitMessage> commits = new ArrayList<>();
    for (int attempt : new int[] {4, 9}) {
      BridgeCommitProtocol task = sent(driver);
      TaskAttemptContext context = task(3, attempt);
      task.setupTask(context);
      String file = task.newTaskTempFile(context, Option.apply("p=a%20b"), SPEC);
      assertEquals("commitbridge", new Path(file).toUri().getScheme());
      assertEquals("part-00003-" + WRITE + "-c000.snappy.parquet", new Path(file).getName());
      assertEquals(file,
          task.newTaskTempFile(context, Option.apply("p=a%20b"), "-c000.snappy.parquet"));
      write(file, bytes(1000 + attempt));
      FileSystem fs = new Path(file).getFileSystem(conf);
      assertTrue(fs.exists(new Path(file)));
      assertEquals(1000 + attempt, fs.getFileStatus(new Path(file)).getLen());
      commits.add(task.commitTask(context));
    }
    assertEquals(Arrays.asList("7 3", "7 3"), SparkHadoopMapRedUtil.ASKED);
    driver.onTaskCommit(commits.get(0));
    // The second attempt committed too, but Spark counts the first.
    driver.commitJob(job(), messages(commits.get(0)));

    SetupJobRequest setup = daemon.only(SetupJobRequest.class);
    assertEquals(Collections.singletonList(WRITE), setup.getJob().getTokensList());
    assertEquals(ConflictMode.CONFLICT_MODE_APPEND, setup.getOptions().getConflictMode());
    assertTrue(setup.getOptions().getAllowOtherLocations());
    for (SetupTaskRequest task : daemon.calls(SetupTaskRequest.class)) {
      assertEquals(Collections.singletonList(WRITE), task.getJob().getTokensList());
    }
    assertEquals("s3a://bucket/table/p=a%20b/part-00003-" + WRITE + "-c000.snappy.parquet",
        daemon.calls(OpenFileRequest.class).get(0).getUri());
    CommitJobRequest commit = daemon.only(CommitJobRequest.class);
    assertEquals(setup.getJob(), commit.getJob());
    assertEquals(Collections.singletonList(TaskAttemptRef.newBuilder().setTask("m-000003")
        .setAttemptNumber(4).setAttemptId("attempt_20260101_0007_m_000003_4").build()),
        commit.getExactWinners().getAttemptsList());
  }

  @Test
  void filesAreCalledAsSparksOwn() throws Exception {
    BridgeCommitProtocol protocol = protocol(false);
    conf.set("mapreduce.output.basename", "other");
    Method sparks = HadoopMapReduceCommitProtocol.class.getDeclaredMethod(
        "getFilename", TaskAttemptContext.class, FileNameSpec.class);
    for (int number : new int[] {0, 12, 123456}) {
      for (FileNameSpec spec : Arrays.asList(SPEC, new FileNameSpec("pre-", ".gz.csv"))) {
        TaskAttemptContext context = task(number, 0);
        assertEquals(
            sparks.invoke(new HadoopMapReduceCommitProtocol(WRITE, "/t", false), context, spec),
            new Path(protocol.newTaskTempFile(context, Option.empty(), spec)).getName());
      }
    }
  }

  @Test
  void overwrittenPathsAreDeletedByTheCommit() throws Exception {
    BridgeCommitProtocol driver = protocol(false);
    FileSystem fs = new NoFileSystem(conf);
    assertTrue(driver.deleteWithJob(fs, new Path(DESTINATION, "p=1"), true));
    assertTrue(driver.deleteWithJob(fs, new Path("s3a://other/custom/p=1/q=2"), true));
    assertTrue(driver.deleteWithJob(fs, new Path(DESTINATION, "p=1/q=3"), true));
    assertEquals(0, daemon.calls.size());
    conf.set(ConfKeys.CONFLICT_MODE, "fail");
    driver.setupJob(job());
    JobOptions options = daemon.only(SetupJobRequest.class).getOptions();
    assertEquals(ConflictMode.CONFLICT_MODE_REPLACE, options.getConflictMode());
    assertEquals(ConflictScope.CONFLICT_SCOPE_PATHS, options.getConflictScope());
    assertEquals(Arrays.asList("s3a://bucket/table/p=1", "s3a://other/custom/p=1/q=2"),
        options.getConflictPathsList());
    assertThrows(CommitbridgeException.class,
        () -> driver.deleteWithJob(fs, new Path(DESTINATION, "p=2"), true));
    driver.commitJob(job(), messages());
    assertTrue(daemon.only(CommitJobRequest.class).hasExactWinners());
  }

  @Test
  void overwrittenPathElsewhereIsRefused() {
    BridgeCommitProtocol driver = protocol(false);
    driver.deleteWithJob(new NoFileSystem(conf), new Path("hdfs://n/custom/p=1"), true);
    String text = assertThrows(
        CommitbridgeException.class, () -> driver.setupJob(job())).getMessage();
    assertTrue(text.contains("hdfs://n/custom/p=1") && text.contains(ConfKeys.SCHEMES), text);
    assertEquals(0, daemon.calls.size());
  }

  @Test
  void dynamicOverwriteReplacesThePartitionsWritten() throws Exception {
    conf.set("mapreduce.output.fileoutputformat.outputdir",
        DESTINATION + "/.spark-staging-" + WRITE);
    BridgeCommitProtocol driver = protocol(true);
    driver.setupJob(job());
    JobOptions options = daemon.only(SetupJobRequest.class).getOptions();
    assertEquals(ConflictMode.CONFLICT_MODE_REPLACE, options.getConflictMode());
    assertEquals(ConflictScope.CONFLICT_SCOPE_PARTITIONS, options.getConflictScope());
    BridgeCommitProtocol task = sent(driver);
    TaskAttemptContext context = task(0, 0);
    task.setupTask(context);
    write(task.newTaskTempFile(context, Option.apply("p=1"), SPEC), bytes(10));
    driver.commitJob(job(), messages(task.commitTask(context)));
    assertEquals("s3a://bucket/table/p=1/part-00000-" + WRITE + "-c000.snappy.parquet",
        daemon.only(OpenFileRequest.class).getUri());
    assertEquals("s3a://bucket/table",
        daemon.only(CommitJobRequest.class).getJob().getDestination());
  }

  @Test
  void absoluteLocationsGoStraightToTheirKeys() throws Exception {
    BridgeCommitProtocol driver = protocol(false);
    driver.setupJob(job());
    BridgeCommitProtocol task = sent(driver);
    TaskAttemptContext context = task(0, 0);
    task.setupTask(context);
    String name = "part-00000-" + WRITE + "-c000.snappy.parquet";
    String first = task.newTaskTempFileAbsPath(context, "s3a://other/a b/p=%41", SPEC);
    String second = task.newTaskTempFileAbsPath(context, "s3a://other", "-c000.snappy.parquet");
    String inside = task.newTaskTempFile(context, Option.apply("p=2"), SPEC);
    write(first, bytes(11));
    write(second, bytes(12));
    write(inside, bytes(13));
    FileSystem fs = fileSystem(new Path(first));
    assertEquals(11, fs.getFileStatus(new Path(first)).getLen());
    assertEquals(12, fs.getFileStatus(new Path(second)).getLen());
    assertEquals(1, fs.listStatus(new Path(first).getParent()).length);
    Path work = new Path(inside).getParent().getParent();
    assertEquals(1, fs.listStatus(work).length, "only what is at the destination");
    // Each in its own directory, whatever the others are called.
    assertTrue(fs.delete(new Path(second), false));
    write(second, bytes(12));
    driver.commitJob(job(), messages(task.commitTask(context)));
    Set<String> uris = new HashSet<>();
    for (CommitTaskRequest part : daemon.calls(CommitTaskRequest.class)) {
      part.getFiles().getFilesList().forEach(file -> uris.add(file.getPending().getUri()));
    }
    assertEquals(new HashSet<>(Arrays.asList("s3a://other/a b/p=%41/" + name, "s3a://other/" + name,
        "s3a://bucket/table/p=2/" + name)), uris);
    for (OpenFileRequest open : daemon.calls(OpenFileRequest.class)) {
      assertEquals("s3a://bucket/table", open.getJob().getDestination());
    }
    String text = assertThrows(CommitbridgeException.class,
        () -> task.newTaskTempFileAbsPath(context, "hdfs://n/x", SPEC)).getMessage();
    assertTrue(text.contains("hdfs://n/x"), text);
  }

  @Test
  void deniedTaskIsAbortedAndCommitsNothing() throws Exception {
    BridgeCommitProtocol driver = protocol(false);
    driver.setupJob(job());
    BridgeCommitProtocol task = sent(driver);
    TaskAttemptContext context = task(0, 0);
    task.setupTask(context);
    write(task.newTaskTempFile(context, Option.empty(), SPEC), bytes(10));
    SparkHadoopMapRedUtil.isAllowed = false;
    assertThrows(IllegalStateException.class, () -> task.commitTask(context));
    assertEquals(0, daemon.calls(CommitTaskRequest.class).size());
    // As Spark's writer does after any error.
    task.abortTask(context);
    assertEquals(2, daemon.calls(AbortTaskRequest.class).size());
    assertEquals(1, daemon.calls(AbortTaskRequest.class).get(0).getFilesCount());
    assertEquals(0, daemon.calls(AbortTaskRequest.class).get(1).getFilesCount());
  }

  @Test
  void failedCommitTaskIsAnIoExceptionAndAbortsTwice() throws Exception {
    BridgeCommitProtocol driver = protocol(false);
    driver.setupJob(job());
    BridgeCommitProtocol task = sent(driver);
    TaskAttemptContext context = task(0, 0);
    task.setupTask(context);
    write(task.newTaskTempFile(context, Option.empty(), SPEC), bytes(10));
    daemon.failNext("CommitTask", Status.Code.FAILED_PRECONDITION, "JOB_ABORTED", 0);
    assertThrows(IOException.class, () -> task.commitTask(context));
    task.abortTask(context);
    assertEquals(2, daemon.calls(AbortTaskRequest.class).size());
    driver.abortJob(job());
    driver.abortJob(job());
    assertEquals(2, daemon.calls(AbortJobRequest.class).size());
    assertEquals(AbortScope.ABORT_SCOPE_THIS_AND_EARLIER_ATTEMPTS,
        daemon.calls(AbortJobRequest.class).get(0).getScope());
  }

  @Test
  void abortsDontHideTheFirstError() throws Exception {
    BridgeCommitProtocol driver = protocol(false);
    driver.setupJob(job());
    BridgeCommitProtocol task = sent(driver);
    task.setupTask(task(0, 0));
    daemon.failNext("AbortTask", Status.Code.PERMISSION_DENIED, "FORGED_HANDLE", 0);
    task.abortTask(task(0, 0));
    daemon.failNext("AbortJob", Status.Code.FAILED_PRECONDITION, "OVERWROTE_OBJECTS", 0);
    Thread.currentThread().interrupt();
    driver.abortJob(job());
    assertTrue(Thread.interrupted());
    assertEquals(1, daemon.calls(AbortJobRequest.class).size());
  }

  @Test
  void refusedSetupLeavesTheOtherJobAlone() throws Exception {
    BridgeCommitProtocol driver = protocol(false);
    conf.set(ConfKeys.JOB_TOKEN, "nightly");
    daemon.failNext("SetupJob", Status.Code.ALREADY_EXISTS, "JOB_EXISTS", 0);
    assertThrows(IOException.class, () -> driver.setupJob(job()));
    driver.abortJob(job());
    assertEquals(AbortScope.ABORT_SCOPE_EARLIER_ATTEMPTS,
        daemon.only(AbortJobRequest.class).getScope());
  }

  @Test
  void givenTokenReachesTheTasks() throws Exception {
    conf.set(ConfKeys.JOB_TOKEN, "nightly");
    BridgeCommitProtocol driver = protocol(false);
    driver.setupJob(job());
    // With a plain Configuration it isn't in the tasks'.
    conf.unset(ConfKeys.JOB_TOKEN);
    BridgeCommitProtocol task = sent(driver);
    task.setupTask(task(0, 0));
    assertEquals(Collections.singletonList("nightly"),
        daemon.only(SetupTaskRequest.class).getJob().getTokensList());
    task.abortTask(task(0, 0));
  }

  @Test
  void setupJobSetsTheIdsThatSparksOwnSets() throws Exception {
    protocol(false).setupJob(job());
    assertTrue(conf.get("mapreduce.job.id").matches("job_\\d{14}\\d+_0000"));
    assertTrue(conf.get("mapreduce.task.id").matches("task_\\d+_0000_m_000000"));
    assertTrue(conf.get("mapreduce.task.attempt.id").matches("attempt_\\d+_0000_m_000000_0"));
    assertTrue(conf.getBoolean("mapreduce.task.ismap", false));
    assertEquals(0, conf.getInt("mapreduce.task.partition", -1));
  }

  @Test
  void commitMessageIsPlainBytes() throws Exception {
    BridgeCommitProtocol driver = protocol(false);
    driver.setupJob(job());
    BridgeCommitProtocol task = sent(driver);
    task.setupTask(task(5, 1));
    Object payload = task.commitTask(task(5, 1)).obj();
    assertEquals(byte[].class, payload.getClass());
    assertArrayEquals(DaemonCommitter.attempt(task(5, 1)).toByteArray(), (byte[]) payload);
  }

  @Test
  void moreWinnersThanFitAMessageAreLeftToTheDaemon() throws Exception {
    daemon.maxMessageBytes = 5_000;
    BridgeCommitProtocol driver = protocol(false);
    driver.setupJob(job());
    TaskCommitMessage[] all = new TaskCommitMessage[100];
    for (int i = 0; i < all.length; i++) {
      all[i] = new TaskCommitMessage(DaemonCommitter.attempt(task(i, 0)).toByteArray());
    }
    driver.commitJob(job(), messages(all));
    assertFalse(daemon.only(CommitJobRequest.class).hasExactWinners());
  }

  @Test
  void missingEndpointsFailTheStart() {
    conf.unset(ConfKeys.ENDPOINTS);
    String text = assertThrows(
        CommitbridgeException.class, () -> protocol(false).setupJob(job())).getMessage();
    assertTrue(text.contains(ConfKeys.ENDPOINTS) && text.contains("spark.hadoop."), text);
    conf.set(ConfKeys.ENDPOINTS, daemon.endpoint());
  }

  @Test
  void twentyJobsInThreadsStayApart() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(20);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      int number = i;
      all.add(pool.submit(() -> {
        runJob(number, "s3a://bucket/" + (number % 2 == 0 ? "one" : "many-" + number));
        return null;
      }));
    }
    for (Future<?> each : all) {
      each.get();
    }
    pool.shutdown();
    assertEquals(20, daemon.calls(CommitJobRequest.class).size());
    for (CommitJobRequest commit : daemon.calls(CommitJobRequest.class)) {
      assertEquals(3, commit.getExactWinners().getAttemptsCount());
    }
    for (OpenFileRequest open : daemon.calls(OpenFileRequest.class)) {
      String token = open.getJob().getTokens(0);
      assertTrue(open.getUri().contains("-" + token + "-"), open.getUri() + " of " + token);
      assertTrue(open.getUri().startsWith(open.getJob().getDestination()));
    }
  }

  private void runJob(int number, String destination) throws Exception {
    JobConf mine = new JobConf(conf);
    JobContext job = new JobContextImpl(mine, null);
    BridgeCommitProtocol driver =
        new BridgeCommitProtocol("write" + number, destination, number % 4 == 0);
    driver.setupJob(job);
    List<TaskCommitMessage> commits = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      // The same attempt ids in every job.
      TaskAttemptContext context = new TaskAttemptContextImpl(mine, attemptId(i, 0));
      BridgeCommitProtocol task = sent(driver);
      task.setupTask(context);
      write(task.newTaskTempFile(context, Option.apply("p=" + i), SPEC), bytes(100 + number));
      commits.add(task.commitTask(context));
    }
    driver.commitJob(job, messages(commits.toArray(new TaskCommitMessage[0])));
  }

  /** Only its configuration is asked for. */
  private static final class NoFileSystem extends org.apache.hadoop.fs.RawLocalFileSystem {
    NoFileSystem(Configuration conf) {
      setConf(conf);
    }

    @Override
    public boolean delete(Path path, boolean recursive) {
      throw new AssertionError("deleted " + path);
    }
  }

  @Test
  void otherSchemesGoWhollyToSparksOwn() throws Exception {
    conf.unset(ConfKeys.ENDPOINTS);
    SQLHadoopMapReduceCommitProtocol.CALLS.clear();
    BridgeCommitProtocol driver = new BridgeCommitProtocol(WRITE, "hdfs://n/t", true);
    assertFalse(driver.deleteWithJob(new NoFileSystem(conf), new Path("/t/old"), true));
    driver.setupJob(job());
    BridgeCommitProtocol task = sent(driver);
    TaskAttemptContext context = task(0, 0);
    task.setupTask(context);
    task.newTaskTempFile(context, Option.apply("p=1"), SPEC);
    task.newTaskTempFile(context, Option.apply("p=1"), ".csv");
    task.newTaskTempFileAbsPath(context, "/x", SPEC);
    task.newTaskTempFileAbsPath(context, "/x", ".csv");
    TaskCommitMessage commit = task.commitTask(context);
    task.abortTask(context);
    driver.onTaskCommit(commit);
    driver.commitJob(job(), messages(commit));
    driver.abortJob(job());
    List<String> expected = new ArrayList<>();
    for (String call : Arrays.asList("deleteWithJob /t/old", "setupJob", "setupTask",
        "newTaskTempFile p=1 " + SPEC, "newTaskTempFile p=1 .csv",
        "newTaskTempFileAbsPath /x " + SPEC, "newTaskTempFileAbsPath /x .csv", "commitTask",
        "abortTask", "onTaskCommit commitTask", "commitJob 1", "abortJob")) {
      expected.add(call + " " + WRITE + " hdfs://n/t true");
    }
    assertEquals(expected, SQLHadoopMapReduceCommitProtocol.CALLS);
    assertEquals(0, daemon.calls.size());
    conf.set(ConfKeys.ENDPOINTS, daemon.endpoint());
  }

  /** Scala 2.13's form exists only there, where the suite with real Sparks calls it. */
  @Test
  void bothFormsOfCommitJobDoTheSame() throws Exception {
    BridgeCommitProtocol driver = protocol(false);
    driver.setupJob(job());
    driver.commitJob(job(), (scala.collection.immutable.Seq<TaskCommitMessage>)
        messages(new TaskCommitMessage(DaemonCommitter.attempt(task(1, 0)).toByteArray()))
            .toList());
    assertEquals("m-000001",
        daemon.only(CommitJobRequest.class).getExactWinners().getAttempts(0).getTask());
  }
}
