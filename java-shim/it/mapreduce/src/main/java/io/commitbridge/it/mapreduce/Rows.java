package io.commitbridge.it.mapreduce;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/** What the jobs of both APIs write, {@code it.rows} rows a map with numbers of their own, and how their tasks go wrong. */
final class Rows {
  static final String MAPS = "it.maps";
  static final String ROWS = "it.rows";
  private static final String VALUE_BYTES = "it.value-bytes";
  /** Number of the task that fails in the middle of its output. */
  private static final String FAIL_TASK = "it.fail.task";
  private static final String FAIL_ATTEMPTS = "it.fail.attempts";
  /** {@code throw} or {@code halt}. */
  private static final String FAIL_HOW = "it.fail.how";
  /** Port of the NodeManager whose tasks are slow, and how slow a row is there. */
  private static final String SLOW_NODE = "it.slow.node";
  private static final String SLOW_MS = "it.slow.ms";

  private Rows() {}

  /** A file with a line for each row; a map gets {@code it.rows} of them. */
  static Path input(Configuration conf) throws IOException {
    conf.setInt("mapreduce.input.lineinputformat.linespermap", perMap(conf));
    Path path = new Path(conf.get("it.input", "/input/") + System.nanoTime());
    FileSystem fs = path.getFileSystem(conf);
    try (FSDataOutputStream out = fs.create(path)) {
      for (int row = 0; row < conf.getInt(MAPS, 4) * perMap(conf); row++) {
        out.writeBytes(row + "\n");
      }
    }
    return path;
  }

  static int perMap(Configuration conf) {
    return conf.getInt(ROWS, 50);
  }

  /** A row by its number: that, and a value that makes files as long as the job wants. */
  static String row(Configuration conf, long number) {
    return String.format("%08d %s", number, "x".repeat(conf.getInt(VALUE_BYTES, 8)));
  }

  /** Called before each row that goes to the output, {@code i} of the task's. */
  static void beforeRow(Configuration conf, TaskAttemptID attempt, int i) throws IOException {
    if (conf.get(SLOW_NODE, "").equals(System.getenv("NM_PORT"))) {
      try {
        Thread.sleep(conf.getLong(SLOW_MS, 1_000));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("The slow task was interrupted", e);
      }
    }
    // The first attempt of the second application attempt has the number 1000.
    if (i == perMap(conf) / 2 && attempt.getTaskID().getId() == conf.getInt(FAIL_TASK, -1)
        && attempt.getId() % 1_000 < conf.getInt(FAIL_ATTEMPTS, 0)) {
      if (conf.get(FAIL_HOW, "throw").equals("halt")) {
        Runtime.getRuntime().halt(7);
      }
      throw new IOException("The task fails on purpose: " + attempt);
    }
  }
}
