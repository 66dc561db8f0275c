package io.commitbridge.it.matrix;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;

/** Adds up what Spark says that tasks wrote, of all the application's jobs while it is open. */
final class BytesWritten extends SparkListener implements AutoCloseable {
  private final SparkSession spark;
  private final AtomicLong sum = new AtomicLong();

  BytesWritten(SparkSession spark) {
    this.spark = spark;
    spark.sparkContext().addSparkListener(this);
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    if (end.taskMetrics() != null) {
      sum.addAndGet(end.taskMetrics().outputMetrics().bytesWritten());
    }
  }

  long sum() throws Exception {
    spark.sparkContext().listenerBus().waitUntilEmpty();
    return sum.get();
  }

  @Override
  public void close() {
    spark.sparkContext().removeSparkListener(this);
  }
}
