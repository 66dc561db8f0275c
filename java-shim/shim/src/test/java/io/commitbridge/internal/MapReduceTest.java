package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.commitbridge.BridgeCommitterFactory;
import io.commitbridge.proto.v1.*;
import io.grpc.Status;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs of Hadoop's LocalJobRunner. */
class MapReduceTest extends Fixture {
  @TempDir
  File folder;

  @BeforeEach
  void configure() {
    conf.unset(JobTokens.SPARK_WRITE_UUID);
    conf.addResource("core-default.xml");
    conf.addResource("mapred-default.xml");
    conf.set("fs.s3a.impl", LocalStoreFileSystem.class.getName());
    conf.setBoolean("fs.s3a.impl.disable.cache", true);
    conf.setInt("mapreduce.client.completion.pollinterval", 100);
    conf.set("hadoop.tmp.dir", folder + "/tmp");
    conf.set("mapreduce.outputcommitter.factory.scheme.s3a",
        BridgeCommitterFactory.class.getName());
    LocalStoreFileSystem.folder = new File(folder, "store");
  }

  private boolean run() throws Exception {
    return textJob().waitForCompletion(false);
  }

  private Job textJob() throws Exception {
    File input = new File(folder, "input");
    Files.write(input.toPath(), "one\ntwo\n".getBytes(StandardCharsets.UTF_8));
    Job job = Job.getInstance(conf);
    job.setOutputKeyClass(LongWritable.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, new Path(input.toURI()));
    FileOutputFormat.setOutputPath(job, DESTINATION);
    return job;
  }

  @Test
  void jobIsCommittedUnderOneToken() throws Exception {
    assertTrue(run());
    SetupJobRequest setup = daemon.only(SetupJobRequest.class);
    String token = setup.getJob().getTokens(0);
    assertTrue(token.matches("job_local[0-9]+_[0-9]+-[0-9a-f]{16}"), token);
    for (SetupTaskRequest task : daemon.calls(SetupTaskRequest.class)) {
      assertEquals(token, task.getJob().getTokens(0));
    }
    assertEquals("s3a://bucket/table/part-r-00000", daemon.only(OpenFileRequest.class).getUri());
    assertEquals(token, daemon.only(CommitJobRequest.class).getJob().getTokens(0));
    assertArrayEquals("0\tone\n4\ttwo\n".getBytes(StandardCharsets.UTF_8), store.bytes("u1"));
    assertFalse(LocalStoreFileSystem.folder.exists(), "nothing goes to the destination itself");
    assertTrue(run());
    assertEquals(2, daemon.calls(SetupJobRequest.class).stream()
        .map(request -> request.getJob().getTokens(0)).distinct().count());
  }

  @Test
  void bytesWrittenAreThoseOfTheFiles() throws Exception {
    Job job = textJob();
    assertTrue(job.waitForCompletion(false));
    assertEquals(store.bytes("u1").length,
        job.getCounters().findCounter(FileOutputFormatCounter.BYTES_WRITTEN).getValue());
  }

  @Test
  void refusedTaskFailsAndTheJobIsAborted() throws Exception {
    daemon.onNext("CommitTask", map -> {});
    daemon.failNext("CommitTask", Status.Code.FAILED_PRECONDITION, "JOB_ABORTED", 0);
    assertFalse(run());
    assertEquals(0, daemon.calls(CommitJobRequest.class).size());
    assertEquals(AbortScope.ABORT_SCOPE_THIS_AND_EARLIER_ATTEMPTS,
        daemon.only(AbortJobRequest.class).getScope());
    assertEquals(1, daemon.calls(AbortTaskRequest.class).stream()
        .mapToInt(AbortTaskRequest::getFilesCount).sum());
  }
}
