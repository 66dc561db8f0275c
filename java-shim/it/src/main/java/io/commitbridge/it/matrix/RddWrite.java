package io.commitbridge.it.matrix;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * Writes {@code lines} lines in {@code tasks} tasks to {@code path} by one of Spark's RDD calls, {@code call}:
 * {@code saveAsTextFile} (with the application's configuration), or {@code saveAsHadoopFile},
 * {@code saveAsNewAPIHadoopFile}, {@code saveAsNewAPIHadoopDataset} with {@code hadoop}'s keys over it.
 */
final class RddWrite {
  private RddWrite() {}

  static void run(SparkSession spark, JsonNode step) {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < step.get("lines").asInt(); i++) {
      lines.add("line " + i);
    }
    JavaSparkContext context = new JavaSparkContext(spark.sparkContext());
    JavaRDD<String> texts = context.parallelize(lines, step.get("tasks").asInt());
    JavaPairRDD<NullWritable, Text> pairs =
        texts.mapToPair(line -> new Tuple2<>(NullWritable.get(), new Text(line)));
    JobConf conf = new JobConf(spark.sparkContext().hadoopConfiguration());
    for (Iterator<Map.Entry<String, JsonNode>> it = step.path("hadoop").fields(); it.hasNext(); ) {
      Map.Entry<String, JsonNode> entry = it.next();
      conf.set(entry.getKey(), entry.getValue().asText());
    }
    String path = step.get("path").asText();
    String call = step.get("call").asText();
    switch (call) {
      case "saveAsTextFile":
        texts.saveAsTextFile(path);
        break;
      case "saveAsHadoopFile":
        pairs.saveAsHadoopFile(
            path, NullWritable.class, Text.class, org.apache.hadoop.mapred.TextOutputFormat.class, conf);
        break;
      case "saveAsNewAPIHadoopFile":
        pairs.saveAsNewAPIHadoopFile(
            path,
            NullWritable.class,
            Text.class,
            org.apache.hadoop.mapreduce.lib.output.TextOutputFormat.class,
            conf);
        break;
      case "saveAsNewAPIHadoopDataset":
        conf.set("mapreduce.job.outputformat.class", "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat");
        conf.set("mapreduce.job.output.key.class", NullWritable.class.getName());
        conf.set("mapreduce.job.output.value.class", Text.class.getName());
        conf.set("mapreduce.output.fileoutputformat.outputdir", path);
        pairs.saveAsNewAPIHadoopDataset(new org.apache.hadoop.conf.Configuration(conf));
        break;
      default:
        throw new IllegalArgumentException("no such call: " + call);
    }
  }
}
