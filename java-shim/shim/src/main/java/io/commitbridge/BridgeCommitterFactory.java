package io.commitbridge;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;

/**
 * Hands out {@link BridgeOutputCommitter}. Named by
 * {@code mapreduce.outputcommitter.factory.scheme.s3a} (and {@code s3}, {@code oss}), or for all
 * paths, also those without a scheme, by {@code mapreduce.outputcommitter.factory.class}.
 */
public class BridgeCommitterFactory extends PathOutputCommitterFactory {
  /** Makes the factory; Hadoop does it by reflection. */
  public BridgeCommitterFactory() {}

  /**
   * Makes a committer. Nothing is sent.
   *
   * @param outputPath the destination; null for none
   * @param context the attempt
   * @return a FileOutputCommitter, so that Spark can't bypass the work path
   * @throws IOException as {@link BridgeOutputCommitter}'s constructor
   */
  @Override
  public PathOutputCommitter createOutputCommitter(Path outputPath, TaskAttemptContext context)
      throws IOException {
    return new BridgeOutputCommitter(outputPath, context);
  }
}
