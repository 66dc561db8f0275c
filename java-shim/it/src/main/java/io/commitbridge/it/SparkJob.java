package io.commitbridge.it;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;

/**
 * Runs the steps of a job file, one after the other, in one Spark application, and prints a line of JSON for each.
 *
 * <p>The file holds {@code {"conf": {key: value}, "steps": [{"do": "write" | "read", …}]}}. A step that fails is
 * reported with its error and doesn't keep the next ones from running; the exit code is 1 if any failed.
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
    }
    System.exit(failed ? 1 : 0);
  }

  private static boolean run(SparkSession spark, int index, JsonNode step) {
    ObjectNode result = JSON.createObjectNode();
    result.put("event", "step").put("step", index).put("do", step.get("do").asText());
    long started = System.nanoTime();
    boolean ok = false;
    try {
      runStep(spark, step, result);
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
        throw new IllegalArgumentException("no such step: " + what);
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
