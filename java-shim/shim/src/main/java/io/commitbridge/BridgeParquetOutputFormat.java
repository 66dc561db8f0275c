package io.commitbridge;

import java.io.IOException;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.parquet.hadoop.ParquetOutputFormat;
import org.apache.parquet.hadoop.api.WriteSupport;

/**
 * Parquet's output format for MapReduce with {@link BridgeParquetOutputCommitter}: Parquet's own
 * makes its committer itself and asks no committer factory. Set in its place:
 * {@code job.setOutputFormatClass(BridgeParquetOutputFormat.class)}, with the write support by
 * {@link ParquetOutputFormat#setWriteSupportClass}.
 *
 * @param <T> what the write support writes
 */
public class BridgeParquetOutputFormat<T> extends ParquetOutputFormat<T> {
  private OutputCommitter committer;

  /** For Hadoop, which takes the write support from the configuration. */
  public BridgeParquetOutputFormat() {}

  /**
   * For subclasses that fix the write support, as Parquet's own formats for Avro and Thrift do.
   *
   * @param writeSupport writes the records
   * @param <S> its class
   */
  public <S extends WriteSupport<T>> BridgeParquetOutputFormat(S writeSupport) {
    super(writeSupport);
  }

  /** The same instance for all calls, as Hadoop's formats have it. Nothing is sent. */
  @Override
  public synchronized OutputCommitter getOutputCommitter(TaskAttemptContext context)
      throws IOException {
    if (committer == null) {
      committer = new BridgeParquetOutputCommitter(getOutputPath(context), context);
    }
    return committer;
  }
}
