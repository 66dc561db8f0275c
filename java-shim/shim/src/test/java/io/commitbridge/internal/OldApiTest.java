package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.commitbridge.ConfKeys;
import io.commitbridge.mapred.BridgeOutputCommitter;
import io.commitbridge.proto.v1.*;
import io.grpc.Status;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileOutputCommitter;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobClient;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobContextImpl;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.JobStatus;
import org.apache.hadoop.mapred.RecordWriter;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.TaskAttemptContext;
import org.apache.hadoop.mapred.TaskAttemptContextImpl;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TextOutputFormat;
import org.apache.hadoop.mapreduce.TaskType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The committer of the old API. */
class OldApiTest extends Fixture {
  @TempDir
  File folder;
  private JobConf job;

  @BeforeEach
  void configure() {
    job = (JobConf) conf;
    job.setOutputCommitter(BridgeOutputCommitter.class);
    FileOutputFormat.setOutputPath(job, DESTINATION);
  }

  private TaskAttemptContext oldTask(int task, int attempt) {
    return new TaskAttemptContextImpl(
        job, new TaskAttemptID("20260101", 7, TaskType.MAP, task, attempt));
  }

  private JobContextImpl oldJob() {
    return new JobContextImpl(job, JobID.forName("job_20260101_0007"));
  }

  /** As Spark's saveAsTextFile: the writer makes a committer of its own to ask for the path. */
  @Test
  void outputFormatsWriteThroughTheWorkPath() throws Exception {
    TaskAttemptContext context = oldTask(2, 1);
    BridgeOutputCommitter driver = new BridgeOutputCommitter();
    driver.setupJob(oldJob());
    BridgeOutputCommitter task = new BridgeOutputCommitter();
    task.setupTask(context);
    job.set("mapreduce.task.attempt.id", context.getTaskAttemptID().toString());
    RecordWriter<NullWritable, Text> writer = new TextOutputFormat<NullWritable, Text>()
        .getRecordWriter(null, job, "part-00002", Reporter.NULL);
    writer.write(NullWritable.get(), new Text("line"));
    writer.close(Reporter.NULL);
    assertTrue(task.needsTaskCommit(context));
    task.commitTask(context);
    driver.commitJob(oldJob());
    assertEquals("s3a://bucket/table/part-00002", daemon.only(OpenFileRequest.class).getUri());
    assertArrayEquals("line\n".getBytes(StandardCharsets.UTF_8), store.bytes("u1"));
    assertEquals(TaskAttemptRef.newBuilder().setTask("m-000002").setAttemptNumber(1)
        .setAttemptId("attempt_20260101_0007_m_000002_1").build(),
        daemon.calls(CommitTaskRequest.class).stream().filter(CommitTaskRequest::hasHeader)
            .findFirst().get().getHeader().getAttempt());
    SetupJobRequest setup = daemon.only(SetupJobRequest.class);
    assertEquals(uuid, setup.getJob().getTokens(0));
    assertEquals(setup.getJob(), daemon.only(CommitJobRequest.class).getJob());
    assertTrue(driver.isCommitJobRepeatable(oldJob()));
    assertTrue(driver.isRecoverySupported(oldJob()));
    driver.recoverTask(context);
    daemon.only(RecoverTaskRequest.class);
  }

  /** Tez names its jobs by a key of its own. */
  @Test
  void tezsIdIsTheToken() throws Exception {
    job.unset(JobTokens.SPARK_WRITE_UUID);
    job.set("job.committer.uuid", "tez-1");
    new BridgeOutputCommitter().setupJob(oldJob());
    assertEquals("tez-1", daemon.only(SetupJobRequest.class).getJob().getTokens(0));
  }

  @Test
  void abortsSayWhy() throws Exception {
    BridgeOutputCommitter committer = new BridgeOutputCommitter();
    committer.setupJob(oldJob());
    committer.abortTask(oldTask(0, 0));
    committer.abortTask(oldTask(0, 0));
    committer.abortJob(oldJob(), JobStatus.KILLED);
    committer.abortJob(oldJob(), JobStatus.FAILED);
    assertEquals(2, daemon.calls(AbortTaskRequest.class).size());
    assertEquals("KILLED", daemon.calls(AbortJobRequest.class).get(0).getReason());
    assertEquals("FAILED", daemon.calls(AbortJobRequest.class).get(1).getReason());
    assertEquals(AbortScope.ABORT_SCOPE_THIS_AND_EARLIER_ATTEMPTS,
        daemon.calls(AbortJobRequest.class).get(0).getScope());
  }

  @Test
  void withoutPathNothingHappens() throws Exception {
    job.unset("mapreduce.output.fileoutputformat.outputdir");
    BridgeOutputCommitter committer = new BridgeOutputCommitter();
    committer.setupJob(oldJob());
    committer.setupTask(oldTask(0, 0));
    assertNull(committer.getTaskAttemptPath(oldTask(0, 0)));
    assertFalse(committer.needsTaskCommit(oldTask(0, 0)));
    committer.commitJob(oldJob());
    assertEquals(0, daemon.calls.size());
  }

  @Test
  void everyMethodIsOverridden() throws Exception {
    for (Method method : FileOutputCommitter.class.getDeclaredMethods()) {
      int modifiers = method.getModifiers();
      if ((Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers))
          && !Modifier.isStatic(modifiers) && !method.isSynthetic()) {
        BridgeOutputCommitter.class.getDeclaredMethod(
            method.getName(), method.getParameterTypes());
      }
    }
  }

  private void configureRunner(Path destination) throws IOException {
    job.unset(JobTokens.SPARK_WRITE_UUID);
    job.addResource("core-default.xml");
    job.addResource("mapred-default.xml");
    job.set("fs.s3a.impl", LocalStoreFileSystem.class.getName());
    job.setBoolean("fs.s3a.impl.disable.cache", true);
    job.setInt("mapreduce.client.completion.pollinterval", 100);
    job.set("hadoop.tmp.dir", folder + "/tmp");
    LocalStoreFileSystem.folder = new File(folder, "store");
    File input = new File(folder, "input");
    Files.write(input.toPath(), "one\ntwo\n".getBytes(StandardCharsets.UTF_8));
    job.setOutputKeyClass(LongWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.setInputPaths(job, new Path(input.toURI()));
    FileOutputFormat.setOutputPath(job, destination);
  }

  @Test
  void mapReduceJobIsCommitted() throws Exception {
    configureRunner(DESTINATION);
    assertTrue(JobClient.runJob(job).isSuccessful());
    assertEquals("s3a://bucket/table/part-00000", daemon.only(OpenFileRequest.class).getUri());
    assertArrayEquals("0\tone\n4\ttwo\n".getBytes(StandardCharsets.UTF_8), store.bytes("u1"));
    assertEquals(daemon.only(SetupJobRequest.class).getJob(),
        daemon.only(CommitJobRequest.class).getJob());
    assertFalse(LocalStoreFileSystem.folder.exists(), "nothing goes to the destination itself");
  }

  @Test
  void refusedTaskFailsTheMapReduceJob() throws Exception {
    configureRunner(DESTINATION);
    daemon.failNext("CommitTask", Status.Code.FAILED_PRECONDITION, "JOB_ABORTED", 0);
    assertThrows(IOException.class, () -> JobClient.runJob(job));
    assertEquals(0, daemon.calls(CommitJobRequest.class).size());
    daemon.only(AbortJobRequest.class);
  }

  @Test
  void otherSchemesGoToHadoops() throws Exception {
    File output = new File(folder, "output");
    configureRunner(new Path(output.toURI()));
    job.unset(ConfKeys.ENDPOINTS);
    job.setInt("mapreduce.fileoutputcommitter.algorithm.version", 2);
    assertTrue(JobClient.runJob(job).isSuccessful());
    assertTrue(Arrays.asList(output.list()).containsAll(Arrays.asList("part-00000", "_SUCCESS")));
    assertFalse(new File(output, "_temporary").exists());
    assertEquals(0, daemon.calls.size());
    job.set(ConfKeys.ENDPOINTS, daemon.endpoint());
  }
}
