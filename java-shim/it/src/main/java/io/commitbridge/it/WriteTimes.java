package io.commitbridge.it;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.sql.SparkSession;

/**
 * What a write that runs alone took: {@code setup_s} before its tasks, {@code tasks_s} from the first task to the last,
 * {@code commit_s} after them, {@code wall_s} as its caller waited. By Spark's own times of the stage.
 */
final class WriteTimes extends SparkListener {
  private final SparkSession spark;
  private final long started = System.currentTimeMillis();
  private long tasksStarted = Long.MAX_VALUE;
  private long tasksEnded;

  WriteTimes(SparkSession spark) {
    this.spark = spark;
    spark.sparkContext().addSparkListener(this);
  }

  @Override
  public synchronized void onStageCompleted(SparkListenerStageCompleted event) {
    StageInfo stage = event.stageInfo();
    tasksStarted = Math.min(tasksStarted, (Long) stage.submissionTime().get());
    tasksEnded = Math.max(tasksEnded, (Long) stage.completionTime().get());
  }

  /** Called when the write has returned. */
  void put(ObjectNode result) throws Exception {
    long ended = System.currentTimeMillis();
    spark.sparkContext().listenerBus().waitUntilEmpty();
    spark.sparkContext().removeSparkListener(this);
    synchronized (this) {
      result.put("setup_s", (tasksStarted - started) / 1e3).put("tasks_s", (tasksEnded - tasksStarted) / 1e3);
      result.put("commit_s", (ended - tasksEnded) / 1e3).put("wall_s", (ended - started) / 1e3);
    }
  }
}
