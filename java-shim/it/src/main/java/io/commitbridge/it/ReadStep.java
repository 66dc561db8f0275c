package io.commitbridge.it;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.countDistinct;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.sum;
import static org.apache.spark.sql.functions.udf;
import static org.apache.spark.sql.functions.when;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;

/**
 * Reads back what {@link WriteStep} wrote, and counts rows, distinct ids, the sum of ids, and the values that don't
 * belong to their ids.
 *
 * <p>Fields: {@code path, format}; {@code value_bytes} as written.
 */
final class ReadStep {
  private ReadStep() {}

  static void run(SparkSession spark, JsonNode step, ObjectNode result) {
    String format = step.get("format").asText();
    String path = step.get("path").asText();
    Dataset<Row> table;
    if (format.equals("text")) {
      table = spark.read().text(path).select(col("value").cast("bigint").as("id"), lit(null).as("value"));
    } else {
      table = spark.read().schema("id BIGINT, value STRING").format(format).load(path);
    }
    SampleValue expected = new SampleValue(step.path("value_bytes").asInt(16));
    table = table.withColumn("expected", udf(expected, DataTypes.StringType).apply(col("id")));
    Row row =
        table
            .agg(
                count(lit(1)),
                countDistinct(col("id")),
                sum(col("id")),
                sum(when(col("value").notEqual(col("expected")), 1).otherwise(0)))
            .first();
    result.put("rows", row.getLong(0)).put("distinct_ids", row.getLong(1));
    result.put("sum_ids", row.isNullAt(2) ? 0 : row.getLong(2)).put("wrong_values", row.isNullAt(3) ? 0 : row.getLong(3));
  }
}
