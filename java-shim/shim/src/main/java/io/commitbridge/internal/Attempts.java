package io.commitbridge.internal;

import io.commitbridge.proto.v1.JobRef;
import io.commitbridge.proto.v1.TaskAttemptRef;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;

/** Hadoop's ids in the protocol's terms. */
final class Attempts {
  private Attempts() {}

  /** The application attempt: counted from 1 by YARN, 0 elsewhere. */
  static int jobAttempt(Configuration conf) {
    return conf.getInt(MRJobConfig.APPLICATION_ATTEMPT_ID, 0);
  }

  static JobRef job(List<String> tokens, int jobAttempt, String destination) {
    return JobRef.newBuilder().addAllTokens(tokens).setJobAttempt(jobAttempt)
        .setDestination(destination).build();
  }

  static TaskAttemptRef attempt(TaskAttemptID id) {
    TaskID task = id.getTaskID();
    return TaskAttemptRef.newBuilder()
        .setTask(String.format(Locale.ROOT, "%c-%06d",
            TaskID.getRepresentingCharacter(task.getTaskType()), task.getId()))
        .setAttemptNumber(id.getId())
        .setAttemptId(id.toString())
        .build();
  }

  /** From a work path, which carries only the attempt's id. */
  static TaskAttemptRef attempt(String attemptId) {
    return attempt(TaskAttemptID.forName(attemptId));
  }
}
