package io.commitbridge.it.bridge;

import io.commitbridge.BridgeOutputCommitter;
import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** {@link BridgeOutputCommitter} whose task attempts fail as {@link CommitterFault} says. */
public final class FaultyOutputCommitter extends BridgeOutputCommitter {
  public FaultyOutputCommitter(Path outputPath, TaskAttemptContext context) throws IOException {
    super(outputPath, context);
  }

  @Override
  public boolean needsTaskCommit(TaskAttemptContext context) throws IOException {
    CommitterFault.at(CommitterFault.AFTER_CLOSE, context);
    return super.needsTaskCommit(context);
  }

  @Override
  public void commitTask(TaskAttemptContext context) throws IOException {
    CommitterFault.at(CommitterFault.BEFORE_COMMIT, context);
    super.commitTask(context);
    CommitterFault.at(CommitterFault.AFTER_COMMIT, context);
  }
}
