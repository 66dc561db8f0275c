package io.commitbridge.it.bridge;

import io.commitbridge.spark.BridgeCommitProtocol;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** {@link BridgeCommitProtocol} whose task attempts fail as {@link CommitterFault} says. */
public final class FaultyCommitProtocol extends BridgeCommitProtocol {
  private static final long serialVersionUID = 1L;

  public FaultyCommitProtocol(String jobId, String path, boolean dynamicPartitionOverwrite) {
    super(jobId, path, dynamicPartitionOverwrite);
  }

  @Override
  public TaskCommitMessage commitTask(TaskAttemptContext context) {
    try {
      CommitterFault.at(CommitterFault.AFTER_CLOSE, context);
      TaskCommitMessage message = super.commitTask(context);
      CommitterFault.at(CommitterFault.AFTER_COMMIT, context);
      return message;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
