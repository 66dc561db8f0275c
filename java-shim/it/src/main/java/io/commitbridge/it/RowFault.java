package io.commitbridge.it;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.api.java.UDF1;

/**
 * Lets a task fail while it writes, at the row in the middle of its range: its files are open, some rows are out.
 *
 * <p>Fields: {@code task} (number of the task; all if missing), {@code attempts} (how many attempts fail, 1), {@code how}:
 * {@code throw} (default) or {@code kill}, which is -9 to the executor's JVM.
 */
final class RowFault implements UDF1<Long, Long> {
  private static final long serialVersionUID = 1L;

  private final int task;
  private final int attempts;
  private final boolean kill;
  private final long first;
  private final long rows;
  private final int tasks;

  private RowFault(int task, int attempts, boolean kill, long first, long rows, int tasks) {
    this.task = task;
    this.attempts = attempts;
    this.kill = kill;
    this.first = first;
    this.rows = rows;
    this.tasks = tasks;
  }

  static RowFault from(JsonNode fault, long first, long rows, int tasks) {
    return new RowFault(
        fault.path("task").asInt(-1),
        fault.path("attempts").asInt(1),
        fault.path("how").asText("throw").equals("kill"),
        first,
        rows,
        tasks);
  }

  @Override
  public Long call(Long id) {
    TaskContext context = TaskContext.get();
    if (context == null || (task >= 0 && task != context.partitionId()) || context.attemptNumber() >= attempts) {
      return id;
    }
    long begin = rows * context.partitionId() / tasks;
    long end = rows * (context.partitionId() + 1) / tasks;
    if (id - first == begin + (end - begin) / 2) {
      if (kill) {
        Sigkill.self();
      }
      throw new IllegalStateException(
          "injected fault: task " + context.partitionId() + ", attempt " + context.attemptNumber());
    }
    return id;
  }
}
