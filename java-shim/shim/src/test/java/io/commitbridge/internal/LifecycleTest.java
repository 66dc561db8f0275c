package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.commitbridge.BridgeCommitterFactory;
import io.commitbridge.BridgeOutputCommitter;
import io.commitbridge.BridgeParquetOutputCommitter;
import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import io.commitbridge.proto.v1.*;
import io.grpc.Status;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;

/** The ten calls, as the daemon sees them. */
class LifecycleTest extends Fixture {
  @Test
  void allTenCallsReachTheDaemon() throws Exception {
    conf.setInt("mapreduce.job.application.attempt.id", 2);
    TaskAttemptContext task = task(12, 3);
    BridgeOutputCommitter committer = committer(task);
    committer.setupJob(job());
    committer.setupTask(task);
    assertTrue(committer.needsTaskCommit(task));
    committer.commitTask(task);
    committer.abortTask(task);
    assertTrue(committer.isCommitJobRepeatable(job()));
    assertTrue(committer.isRecoverySupported(job()));
    committer.recoverTask(task);
    committer.commitJob(job());
    committer.abortJob(job(), JobStatus.State.KILLED);

    SetupJobRequest setup = daemon.only(SetupJobRequest.class);
    assertEquals(JobRef.newBuilder().addTokens(uuid).setJobAttempt(2)
        .setDestination("s3a://bucket/table").build(), setup.getJob());
    assertEquals(1, setup.getProtocolVersion());
    assertEquals(ConflictMode.CONFLICT_MODE_APPEND, setup.getOptions().getConflictMode());
    TaskAttemptRef attempt = TaskAttemptRef.newBuilder().setTask("m-000012").setAttemptNumber(3)
        .setAttemptId("attempt_20260101_0007_m_000012_3").build();
    assertEquals(attempt, daemon.only(SetupTaskRequest.class).getAttempt());
    assertEquals(attempt, daemon.only(NeedsTaskCommitRequest.class).getAttempt());
    assertEquals(attempt, daemon.only(CommitTaskRequest.class).getHeader().getAttempt());
    assertEquals(attempt, daemon.only(AbortTaskRequest.class).getAttempt());
    assertEquals(attempt, daemon.only(RecoverTaskRequest.class).getAttempt());
    assertTrue(daemon.only(RecoverTaskRequest.class).getSucceeded());
    assertEquals(setup.getJob(), daemon.only(CommitJobRequest.class).getJob());
    assertEquals(setup.getJob(), daemon.only(AbortJobRequest.class).getJob());
    assertEquals("KILLED", daemon.only(AbortJobRequest.class).getReason());
    daemon.only(IsCommitJobRepeatableRequest.class);
    daemon.only(IsRecoverySupportedRequest.class);
  }

  @Test
  void answersAreTheDaemons() throws Exception {
    BridgeOutputCommitter committer = committer(task(0, 0));
    for (String call : Arrays.asList("IsCommitJobRepeatable", "IsRecoverySupported",
        "NeedsTaskCommit", "RecoverTask")) {
      daemon.failNext(call, Status.Code.NOT_FOUND, "JOB_NOT_FOUND", 0);
    }
    assertThrows(IOException.class, () -> committer.isCommitJobRepeatable(job()));
    assertThrows(IOException.class, () -> committer.isRecoverySupported(job()));
    assertThrows(IOException.class, () -> committer.needsTaskCommit(task(0, 0)));
    assertThrows(IOException.class, () -> committer.recoverTask(task(0, 0)));
  }

  @Test
  void madeTokenIsRememberedAndReachesTasks() throws Exception {
    conf.unset(JobTokens.SPARK_WRITE_UUID);
    BridgeOutputCommitter driver = committer(task(0, 0));
    driver.setupJob(job());
    String made = daemon.only(SetupJobRequest.class).getJob().getTokens(0);
    committer(task(1, 0)).setupTask(task(1, 0));
    assertTrue(daemon.only(SetupTaskRequest.class).getJob().getTokensList().contains(made));
    conf.unset(ConfKeys.INTERNAL_JOB_TOKEN);
    driver.commitJob(job());
    assertEquals(made, daemon.only(CommitJobRequest.class).getJob().getTokens(0));
  }

  @Test
  void setupIdIsOneForEachInstance() throws Exception {
    BridgeOutputCommitter first = committer(task(0, 0));
    first.setupJob(job());
    first.setupJob(job());
    committer(task(0, 0)).setupJob(job());
    String[] ids = daemon.calls(SetupJobRequest.class).stream()
        .map(SetupJobRequest::getSetupId).toArray(String[]::new);
    assertEquals(ids[0], ids[1]);
    assertNotEquals(ids[0], ids[2]);
  }

  @Test
  void abortJobWithoutSetupSparesItsOwnJobAttempt() throws Exception {
    conf.setInt("mapreduce.job.application.attempt.id", 2);
    BridgeOutputCommitter second = committer(task(0, 0));
    second.abortJob(job(), JobStatus.State.FAILED);
    assertEquals(AbortScope.ABORT_SCOPE_EARLIER_ATTEMPTS,
        daemon.only(AbortJobRequest.class).getScope());
    daemon.calls.clear();
    second.setupJob(job());
    second.abortJob(job(), JobStatus.State.FAILED);
    assertEquals(AbortScope.ABORT_SCOPE_THIS_AND_EARLIER_ATTEMPTS,
        daemon.only(AbortJobRequest.class).getScope());
  }

  @Test
  void refusedSetupDoesNotAbortTheOtherDriversJob() throws Exception {
    daemon.failNext("SetupJob", Status.Code.ALREADY_EXISTS, "JOB_EXISTS", 0);
    BridgeOutputCommitter committer = committer(task(0, 0));
    CommitbridgeException e =
        assertThrows(CommitbridgeException.class, () -> committer.setupJob(job()));
    assertEquals("JOB_EXISTS", e.getReason());
    assertTrue(e.getMessage().contains("commitbridge jobs abort"), e.getMessage());
    committer.abortJob(job(), JobStatus.State.FAILED);
    assertEquals(AbortScope.ABORT_SCOPE_EARLIER_ATTEMPTS,
        daemon.only(AbortJobRequest.class).getScope());
  }

  @Test
  void abortAfterPublicationIsNoError() throws Exception {
    daemon.published = true;
    committer(task(0, 0)).abortJob(job(), JobStatus.State.FAILED);
  }

  @Test
  void optionsComeFromTheConfiguration() throws Exception {
    conf.setBoolean(FileOutputCommitter.SUCCESSFUL_JOB_OUTPUT_DIR_MARKER, false);
    conf.set(ConfKeys.CONFLICT_MODE, "fail");
    committer(task(0, 0)).setupJob(job());
    JobOptions options = daemon.only(SetupJobRequest.class).getOptions();
    assertTrue(options.getSkipSuccessMarker());
    assertEquals(ConflictMode.CONFLICT_MODE_FAIL, options.getConflictMode());
    refusedSetup(ConfKeys.CONFLICT_MODE, "merge", ConfKeys.CONFLICT_MODE);
  }

  @Test
  void halfConfiguredBindingsFailInSetupJob() throws Exception {
    refusedSetup(ConfKeys.DATA_PLANE, "stream", ConfKeys.DATA_PLANE);
    refusedSetup(ConfKeys.DATA_PLANE, "pigeon", ConfKeys.DATA_PLANE);
    refusedSetup(ConfKeys.ENDPOINTS, "", ConfKeys.ENDPOINTS);
    refusedSetup(ConfKeys.ENDPOINTS, "http://host/", ConfKeys.ENDPOINTS);
    refusedSetup("mapreduce.output.fileoutputformat.outputdir",
        "s3a://bucket/table/.spark-staging-1234", "spark.sql.sources.commitProtocolClass");
    assertEquals(Collections.emptyList(), daemon.calls(SetupJobRequest.class));
  }

  @Test
  void dynamicOverwriteIsRefused() throws Exception {
    Path staging = new Path(DESTINATION, ".spark-staging-1234");
    for (FileOutputCommitter committer : Arrays.asList(
        new BridgeOutputCommitter(staging, task(0, 0)),
        new BridgeParquetOutputCommitter(staging, task(0, 0)))) {
      IOException e = assertThrows(IOException.class, () -> committer.setupJob(job()));
      assertTrue(e.getMessage().contains("spark.sql.sources.commitProtocolClass"), e.getMessage());
    }
    assertEquals(0, daemon.calls.size());
  }

  private void refusedSetup(String key, String value, String named) throws IOException {
    String before = conf.get(key);
    conf.set(key, value);
    IOException e = assertThrows(IOException.class, () -> committer(task(0, 0)).setupJob(job()));
    assertTrue(e.getMessage().contains(named), e.getMessage());
    if (before == null) {
      conf.unset(key);
    } else {
      conf.set(key, before);
    }
  }

  @Test
  void otherProtocolVersionsAreRefusedWithBoth() throws Exception {
    daemon.minVersion = 2;
    daemon.maxVersion = 4;
    IOException e = assertThrows(IOException.class, () -> committer(task(0, 0)).setupJob(job()));
    assertTrue(e.getMessage().contains("version 1"), e.getMessage());
    assertTrue(e.getMessage().contains("2 to 4"), e.getMessage());
    assertTrue(e.getMessage().contains("9.9.9"), e.getMessage());
  }

  @Test
  void daemonWithoutTheDirectPlaneIsRefused() throws Exception {
    daemon.planes = Arrays.asList(DataPlane.DATA_PLANE_STREAM);
    IOException e = assertThrows(IOException.class, () -> committer(task(0, 0)).setupJob(job()));
    assertTrue(e.getMessage().contains(ConfKeys.DATA_PLANE), e.getMessage());
  }

  @Test
  void withoutAPathEveryCallDoesNothing() throws Exception {
    conf.unset(ConfKeys.ENDPOINTS);
    TaskAttemptContext task = task(0, 0);
    BridgeOutputCommitter committer = new BridgeOutputCommitter(null, task);
    committer.setupJob(job());
    committer.setupTask(task);
    committer.commitTask(task);
    committer.abortTask(task);
    committer.commitJob(job());
    committer.abortJob(job(), JobStatus.State.FAILED);
    assertEquals(null, committer.getOutputPath());
    assertEquals(0, daemon.calls.size());
    conf.set(ConfKeys.ENDPOINTS, daemon.endpoint());
  }

  @Test
  void driverMayMakeOneFromAJobContext() throws Exception {
    BridgeOutputCommitter committer = new BridgeOutputCommitter(DESTINATION, job());
    committer.setupJob(job());
    committer.commitJob(job());
    daemon.only(CommitJobRequest.class);
  }

  @Test
  void factoryMakesAFileOutputCommitter() throws Exception {
    assertEquals(BridgeOutputCommitter.class, new BridgeCommitterFactory()
        .createOutputCommitter(DESTINATION, task(0, 0)).getClass());
  }

  @Test
  void errorsAreHadoopsWhereItHasOne() throws Exception {
    BridgeOutputCommitter committer = committer(task(0, 0));
    daemon.failNext("CommitJob", Status.Code.ALREADY_EXISTS, "DESTINATION_EXISTS", 0);
    IOException e = assertThrows(
        FileAlreadyExistsException.class, () -> committer.commitJob(job()));
    assertEquals("DESTINATION_EXISTS", ((CommitbridgeException) e.getCause()).getReason());
    daemon.failNext("CommitJob", Status.Code.PERMISSION_DENIED, "OUTSIDE_ROOTS", 0);
    assertThrows(org.apache.hadoop.security.AccessControlException.class,
        () -> committer.commitJob(job()));
  }

  @Test
  void waitingCallsReportProgress() throws Exception {
    AtomicInteger progress = new AtomicInteger();
    TaskAttemptContext task = new TaskAttemptContextImpl(conf, attemptId(0, 0)) {
      @Override
      public void progress() {
        progress.incrementAndGet();
      }
    };
    daemon.onNext("CommitTask", request -> Thread.sleep(5_000));
    committer(task).commitTask(task);
    assertTrue(progress.get() >= 2, progress + " calls in 5 s");
    progress.set(0);
    daemon.onNext("CommitJob", request -> Thread.sleep(1_500));
    committer(task).commitJob(task);
    assertTrue(progress.get() >= 1, progress + " calls in 1.5 s");
  }

  @Test
  void interruptedCallsEndAtOnce() throws Exception {
    daemon.onNext("CommitJob", request -> Thread.sleep(8_000));
    Thread caller = Thread.currentThread();
    Thread interrupter = new Thread(() -> {
      try {
        Thread.sleep(500);
      } catch (InterruptedException e) {
        return;
      }
      caller.interrupt();
    });
    long start = Retry.nowMs();
    interrupter.start();
    JobContext job = job();
    assertThrows(java.io.InterruptedIOException.class, () -> committer(task(0, 0)).commitJob(job));
    assertTrue(Thread.interrupted());
    assertTrue(Retry.nowMs() - start < 5_000);
  }
}
