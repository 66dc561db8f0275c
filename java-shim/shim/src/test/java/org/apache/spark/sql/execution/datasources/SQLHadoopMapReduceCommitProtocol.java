package org.apache.spark.sql.execution.datasources;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileNameSpec;
import scala.Option;
import scala.collection.Seq;

/** Stands in for Spark SQL's, which needs a running Spark: records what it's asked. */
public class SQLHadoopMapReduceCommitProtocol extends FileCommitProtocol implements Serializable {
  public static final List<String> CALLS = Collections.synchronizedList(new ArrayList<>());
  private static final long serialVersionUID = 1L;
  private final String made;

  public SQLHadoopMapReduceCommitProtocol(String jobId, String path, boolean dynamic) {
    made = jobId + " " + path + " " + dynamic;
  }

  private String call(String name) {
    CALLS.add(name + " " + made);
    return name;
  }

  @Override
  public void setupJob(JobContext context) {
    call("setupJob");
  }

  @Override
  public void commitJob(JobContext context, Seq<TaskCommitMessage> commits) {
    call("commitJob " + commits.size());
  }

  @Override
  public void abortJob(JobContext context) {
    call("abortJob");
  }

  @Override
  public void setupTask(TaskAttemptContext context) {
    call("setupTask");
  }

  @Override
  public String newTaskTempFile(TaskAttemptContext context, Option<String> dir, String ext) {
    return call("newTaskTempFile " + dir.get() + " " + ext);
  }

  @Override
  public String newTaskTempFile(
      TaskAttemptContext context, Option<String> dir, FileNameSpec spec) {
    return call("newTaskTempFile " + dir.get() + " " + spec);
  }

  @Override
  public String newTaskTempFileAbsPath(TaskAttemptContext context, String dir, String ext) {
    return call("newTaskTempFileAbsPath " + dir + " " + ext);
  }

  @Override
  public String newTaskTempFileAbsPath(TaskAttemptContext context, String dir, FileNameSpec spec) {
    return call("newTaskTempFileAbsPath " + dir + " " + spec);
  }

  @Override
  public TaskCommitMessage commitTask(TaskAttemptContext context) {
    return new TaskCommitMessage(call("commitTask"));
  }

  @Override
  public void abortTask(TaskAttemptContext context) {
    call("abortTask");
  }

  @Override
  public boolean deleteWithJob(FileSystem fs, Path path, boolean recursive) {
    call("deleteWithJob " + path);
    return false;
  }

  @Override
  public void onTaskCommit(TaskCommitMessage message) {
    call("onTaskCommit " + message.obj());
  }
}
