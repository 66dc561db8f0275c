package io.commitbridge.it.matrix;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Steps that write in each way that Spark has.
 *
 * <p>{@code save}: the rows of {@code query} by a DataFrameWriter ({@code format}, {@code path}; {@code mode},
 * {@code partition_by}, {@code options}, {@code table} with {@code buckets} and {@code bucket_by}). {@code sql}: runs
 * {@code statements} and returns the rows of the last. {@code load}: the rows of {@code path} ({@code format},
 * {@code schema}). {@code rdd}: see {@link RddWrite}; {@code v2}: see {@link V2Write}. {@code registry}: how many attempts each JVM still knows.
 *
 * <p>Rows come back as sorted texts; {@code save}, {@code rdd} and {@code v2} also return what Spark counted as bytes written.
 */
public final class MatrixStep {
  private MatrixStep() {}

  /** Whether a step is one of these; otherwise it isn't touched. */
  public static boolean run(SparkSession spark, JsonNode step, ObjectNode result) throws Exception {
    switch (step.get("do").asText()) {
      case "save":
        try (BytesWritten bytes = new BytesWritten(spark)) {
          save(spark, step);
          result.put("bytes", bytes.sum());
        }
        return true;
      case "rdd":
        try (BytesWritten bytes = new BytesWritten(spark)) {
          RddWrite.run(spark, step);
          result.put("bytes", bytes.sum());
        }
        return true;
      case "v2":
        try (BytesWritten bytes = new BytesWritten(spark)) {
          V2Write.run(spark, step);
          result.put("bytes", bytes.sum());
        }
        return true;
      case "sql":
        Dataset<Row> last = null;
        for (JsonNode statement : step.get("statements")) {
          last = spark.sql(statement.asText());
        }
        putRows(last, result);
        return true;
      case "load":
        putRows(
            spark
                .read()
                .format(step.get("format").asText())
                .schema(step.get("schema").asText())
                .load(step.get("path").asText()),
            result);
        return true;
      case "registry":
        ArrayNode sizes = result.putArray("registries");
        Registries.sizes(spark).forEach(sizes::add);
        return true;
      default:
        return false;
    }
  }

  private static void save(SparkSession spark, JsonNode step) {
    DataFrameWriter<Row> writer =
        spark
            .sql(step.get("query").asText())
            .write()
            .format(step.get("format").asText())
            .mode(step.path("mode").asText("append"));
    if (step.hasNonNull("partition_by")) {
      writer = writer.partitionBy(step.get("partition_by").asText());
    }
    for (Iterator<Map.Entry<String, JsonNode>> it = step.path("options").fields(); it.hasNext(); ) {
      Map.Entry<String, JsonNode> option = it.next();
      writer = writer.option(option.getKey(), option.getValue().asText());
    }
    String path = step.get("path").asText();
    if (!step.hasNonNull("table")) {
      writer.save(path);
      return;
    }
    if (step.hasNonNull("bucket_by")) {
      String column = step.get("bucket_by").asText();
      writer = writer.bucketBy(step.get("buckets").asInt(), column).sortBy(column);
    }
    writer.option("path", path).saveAsTable(step.get("table").asText());
  }

  private static void putRows(Dataset<Row> table, ObjectNode result) {
    List<String> rows = new ArrayList<>();
    for (Row row : table.collectAsList()) {
      rows.add(row.toString());
    }
    Collections.sort(rows);
    ArrayNode texts = result.putArray("texts");
    rows.forEach(texts::add);
  }
}
