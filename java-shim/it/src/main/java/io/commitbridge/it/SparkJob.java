package io.commitbridge.it;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.commitbridge.it.matrix.MatrixStep;
import java.io.File;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;

/**
 * Runs the steps of a job file, one after the other, in one Spark application, and prints a line of JSON for each.
 *
 * <p>The file holds {@code {"conf": {key: value}, "steps": [{"do": "write" | "read", …}]}}. A step that fails is
 * reported with its error and doesn't keep the next ones from running; the exit code is 1 if any failed. A step's
 * {@code conf} holds for it alone.
 *
 * <p>With {@code "follow": directory} the application then goes on with the files {@code 0.json, 1.json, …} of that
 * directory as they come, each in a thread of its own, until one is {@code {"do": "stop"}}. Their results carry these
 * numbers.
 */
public final class SparkJob {
  private static final ObjectMapper JSON = new ObjectMapper();

  private SparkJob() {}

  public static void main(String[] args) throws Exception {
    JsonNode job = JSON.readTree(new File(args[0]));
    SparkConf conf = new SparkConf().setAppName("commitbridge-it");
    for (Iterator<Map.Entry<String, JsonNode>> it = job.get("conf").fields(); it.hasNext(); ) {
      Map.Entry<String, JsonNode> entry = it.next();
      conf.set(entry.getKey(), entry.getValue().asText());
    }
    boolean failed = false;
    try (SparkSession spark = SparkSession.builder().config(conf).getOrCreate()) {
      emit(JSON.createObjectNode().put("event", "started").put("app", spark.sparkContext().applicationId()));
      for (int i = 0; i < job.get("steps").size(); i++) {
        failed |= !run(spark, i, job.get("steps").get(i));
      }
      if (job.hasNonNull("follow")) {
        failed |= !follow(spark, new File(job.get("follow").asText()));
      }
    }
    System.exit(failed ? 1 : 0);
  }

  private static boolean follow(SparkSession spark, File directory) throws Exception {
    AtomicBoolean ok = new AtomicBoolean(true);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; ; i++) {
      File file = new File(directory, i + ".json");
      while (!file.exists()) {
        Thread.sleep(20);
      }
      JsonNode step = JSON.readTree(file);
      if (step.get("do").asText().equals("stop")) {
        break;
      }
      int number = i;
      Thread thread = new Thread(() -> ok.compareAndSet(true, run(spark, number, step)), "step-" + i);
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    return ok.get();
  }

  private static boolean run(SparkSession spark, int index, JsonNode step) {
    ObjectNode result = JSON.createObjectNode();
    result.put("event", "step").put("step", index).put("do", step.get("do").asText());
    long started = System.nanoTime();
    boolean ok = false;
    try {
      // A pool of its own, for applications that schedule fairly.
      spark.sparkContext().setLocalProperty("spark.scheduler.pool", "step-" + index);
      SparkSession session = spark.newSession();
      for (Iterator<Map.Entry<String, JsonNode>> it = step.path("conf").fields(); it.hasNext(); ) {
        Map.Entry<String, JsonNode> entry = it.next();
        session.conf().set(entry.getKey(), entry.getValue().asText());
      }
      runStep(session, step, result);
      ok = true;
    } catch (Exception e) {
      e.printStackTrace();
      result.put("error", messages(e)).put("error_class", e.getClass().getName());
    }
    result.put("ok", ok).put("seconds", (System.nanoTime() - started) / 1e9);
    emit(result);
    return ok;
  }

  private static void runStep(SparkSession spark, JsonNode step, ObjectNode result) throws Exception {
    String what = step.get("do").asText();
    switch (what) {
      case "write":
        WriteStep.run(spark, step, result);
        break;
      case "read":
        ReadStep.run(spark, step, result);
        break;
      default:
        if (!MatrixStep.run(spark, step, result)) {
          throw new IllegalArgumentException("no such step: " + what);
        }
    }
  }

  /** The messages of an error and its causes: what went wrong in a task is in the last. */
  private static String messages(Throwable error) {
    StringBuilder text = new StringBuilder();
    for (Throwable t = error; t != null; t = t.getCause()) {
      text.append(text.length() == 0 ? "" : "\ncaused by: ").append(t);
    }
    return text.toString();
  }

  private static synchronized void emit(ObjectNode line) {
    System.out.println(line);
    System.out.flush();
  }
}
