package io.commitbridge.it;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.udf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;

/**
 * Writes the ids {@code [first, first + rows)} in {@code tasks} tasks, with a value made from each id.
 *
 * <p>Fields: {@code path, format, rows, tasks}; {@code mode} (append), {@code first} (0), {@code partition_by} (none; a
XX
 */
final class WriteStep {
  private WriteStep() {}

  static void run(SparkSession spark, JsonNode step, ObjectNode result) throws Exception {
    long first = step.path("first").asLong(0);
    long rows = step.get("rows").asLong();
    int tasks = step.get("tasks").asInt();
    String format = step.get("format").asText();
    boolean partitioned = step.hasNonNull("partition_by");

    Column id = col("id");
    if (step.hasNonNull("fault")) {
      id = udf(RowFault.from(step.get("fault"), first, rows, tasks), DataTypes.LongType).apply(id);
    }
    Dataset<Row> table = spark.range(first, first + rows, 1, tasks).toDF().withColumn("id", id);
    UDF1<Long, String> value = new SampleValue(step.path("value_bytes").asInt(16));
    table =
        format.equals("text")
            ? table.select(col("id").cast("string").as("value"), col("id"))
            : table.withColumn("value", udf(value, DataTypes.StringType).apply(col("id")));
    if (partitioned) {
      int partitions = step.path("partitions").asInt(3);
      table = table.withColumn(step.get("partition_by").asText(), col("id").mod(partitions));
    }
    if (format.equals("text")) {
      table = table.drop("id"); // text takes a single column besides those of the partition
    }

    DataFrameWriter<Row> writer = table.write().format(format).mode(step.path("mode").asText("append"));
    if (partitioned) {
      writer = writer.partitionBy(step.get("partition_by").asText());
    }
    for (Iterator<Map.Entry<String, JsonNode>> it = step.path("options").fields(); it.hasNext(); ) {
      Map.Entry<String, JsonNode> option = it.next();
      writer = writer.option(option.getKey(), option.getValue().asText());
    }
    WriteTimes times = step.path("times").asBoolean() ? new WriteTimes(spark) : null;
    writer.save(step.get("path").asText());
    if (times != null) {
      times.put(result);
    }
    result.put("rows", rows);
  }
}
