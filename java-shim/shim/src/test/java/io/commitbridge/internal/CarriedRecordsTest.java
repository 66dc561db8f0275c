package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import io.commitbridge.proto.v1.*;
import io.commitbridge.spark.BridgeCommitProtocol;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.apache.spark.internal.io.FileNameSpec;
import org.apache.spark.mapred.SparkHadoopMapRedUtil;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.collection.mutable.ArrayBuffer;

/** Task records that Spark carries to the driver. */
class CarriedRecordsTest extends Fixture {
  @BeforeEach
  void keepWithDriver() {
    SparkHadoopMapRedUtil.ASKED.clear();
    SparkHadoopMapRedUtil.isAllowed = true;
    conf.set(ConfKeys.TASK_RECORDS, "driver");
    daemon.pendingsetBytes = 100;
  }

  private BridgeCommitProtocol setUp() {
    BridgeCommitProtocol driver = new BridgeCommitProtocol(uuid, DESTINATION.toString());
    driver.setupJob(job());
    return driver;
  }

  private TaskCommitMessage runTask(BridgeCommitProtocol driver, int number, int attempt)
      throws Exception {
    BridgeCommitProtocol task = CommitProtocolTest.sent(driver);
    TaskAttemptContext context = task(number, attempt);
    task.setupTask(context);
    Path file = new Path(
        task.newTaskTempFile(context, Option.empty(), new FileNameSpec("", ".parquet")));
    write(file.getParent(), file.getName(), bytes(10));
    return task.commitTask(context);
  }

  private void commit(BridgeCommitProtocol driver, List<TaskCommitMessage> messages) {
    ArrayBuffer<TaskCommitMessage> buffer = new ArrayBuffer<>();
    for (TaskCommitMessage each : messages) {
      buffer.$plus$eq(each);
    }
    driver.commitJob(job(), (scala.collection.Seq<TaskCommitMessage>) buffer);
  }

  private List<ByteString> handedOver() {
    List<ByteString> found = new ArrayList<>();
    for (CommitJobWithPendingsetsRequest each
        : daemon.calls(CommitJobWithPendingsetsRequest.class)) {
      found.addAll(each.getBatch().getPendingsetsList());
    }
    return found;
  }

  private ByteString pendingset(int number, int attempt) {
    return FakeDaemon.pendingset(
        Attempts.attempt(attemptId(number, attempt)), daemon.pendingsetBytes);
  }

  @Test
  void whatTasksReturnedIsHandedOverByCommitJob() throws Exception {
    BridgeCommitProtocol driver = setUp();
    List<TaskCommitMessage> messages = new ArrayList<>();
    messages.add(runTask(driver, 0, 4));
    // Committed too, but Spark counts the other one.
    runTask(driver, 0, 5);
    messages.add(runTask(driver, 1, 6));
    assertArrayEquals(pendingset(0, 4).toByteArray(), (byte[]) messages.get(0).obj());
    commit(driver, messages);

    SetupJobRequest setup = daemon.only(SetupJobRequest.class);
    assertEquals(TaskRecords.TASK_RECORDS_DRIVER, setup.getOptions().getTaskRecords());
    List<ByteString> sent = handedOver();
    assertEquals(2, sent.size());
    assertEquals(pendingset(0, 4), sent.get(0));
    assertEquals(pendingset(1, 6), sent.get(1));
    CommitJobHeader header = daemon.calls(CommitJobWithPendingsetsRequest.class).stream()
        .filter(CommitJobWithPendingsetsRequest::hasHeader).findFirst().get().getHeader();
    assertEquals(2, header.getPendingsetCount());
    assertEquals(setup.getJob(), header.getJob());
    assertEquals(0, daemon.calls(CommitJobRequest.class).size());
  }

  @Test
  void aCallThatFailsIsRepeatedAsAWhole() throws Exception {
    BridgeCommitProtocol driver = setUp();
    List<TaskCommitMessage> messages = new ArrayList<>();
    messages.add(runTask(driver, 0, 4));
    daemon.failNext("CommitJobWithPendingsets", Status.Code.UNAVAILABLE, "STORE_UNAVAILABLE", 1);
    commit(driver, messages);
    List<ByteString> sent = handedOver();
    assertEquals(2, sent.size());
    assertEquals(sent.get(0), sent.get(1));
  }

  @Test
  void batchesFitTheProtocolAndOneThatIsLargerGoesAlone() throws Exception {
    daemon.pendingsetBytes = 200 * 1024;
    BridgeCommitProtocol driver = setUp();
    List<TaskCommitMessage> messages = new ArrayList<>();
    for (int task = 0; task < 7; task++) {
      messages.add(runTask(driver, task, 0));
    }
    daemon.pendingsetBytes = 3 * 1024 * 1024;
    messages.add(runTask(driver, 7, 0));
    commit(driver, messages);
    assertEquals(8, handedOver().size());
    for (CommitJobWithPendingsetsRequest each
        : daemon.calls(CommitJobWithPendingsetsRequest.class)) {
      assertTrue(each.getBatch().getPendingsetsCount() <= 1
          || each.getSerializedSize() <= 1024 * 1024);
    }
  }

  @Test
  void aJobWithoutTasksHandsNothingOver() {
    BridgeCommitProtocol driver = setUp();
    commit(driver, new ArrayList<>());
    assertEquals(0, handedOver().size());
    assertEquals(1, daemon.calls(CommitJobWithPendingsetsRequest.class).size());
  }

  @Test
  void theDefaultWritesTheRecords() throws Exception {
    conf.unset(ConfKeys.TASK_RECORDS);
    daemon.pendingsetBytes = 0;
    BridgeCommitProtocol driver = setUp();
    List<TaskCommitMessage> messages = new ArrayList<>();
    messages.add(runTask(driver, 0, 4));
    commit(driver, messages);
    assertEquals(TaskRecords.TASK_RECORDS_UNSPECIFIED,
        daemon.only(SetupJobRequest.class).getOptions().getTaskRecords());
    assertEquals(1, daemon.only(CommitJobRequest.class).getExactWinners().getAttemptsCount());
  }

  @Test
  void otherBindingsStoreTheRecords() throws Exception {
    daemon.pendingsetBytes = 0;
    committer(task(0, 0)).setupJob(job());
    assertEquals(TaskRecords.TASK_RECORDS_UNSPECIFIED,
        daemon.only(SetupJobRequest.class).getOptions().getTaskRecords());
  }

  @Test
  void nobodyTakesAnotherValue() {
    conf.set(ConfKeys.TASK_RECORDS, "store");
    String other = assertThrows(CommitbridgeException.class, this::setUp).getMessage();
    assertTrue(other.contains("'store'") && other.contains("client or driver"), other);
    assertEquals(0, daemon.calls(SetupJobRequest.class).size());
  }
}
