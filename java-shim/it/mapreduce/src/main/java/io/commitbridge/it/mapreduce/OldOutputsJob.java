package io.commitbridge.it.mapreduce;

import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobClient;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapFileOutputFormat;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reducer;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.SequenceFileOutputFormat;
import org.apache.hadoop.mapred.TextOutputFormat;
import org.apache.hadoop.mapred.lib.LazyOutputFormat;
import org.apache.hadoop.mapred.lib.MultipleOutputs;
import org.apache.hadoop.mapred.lib.NLineInputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** As {@link OutputsJob}, in the old API. */
public final class OldOutputsJob extends Configured implements Tool {
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new OldOutputsJob(), args));
  }

  @Override
  public int run(String[] args) throws Exception {
    JobConf conf = new JobConf(getConf(), OldOutputsJob.class);
    conf.setJobName(args[0] + " (mapred)");
    conf.setInputFormat(NLineInputFormat.class);
    FileInputFormat.setInputPaths(conf, Rows.input(conf));
    conf.setMapperClass(OldWriteJob.Sender.class);
    conf.setMapOutputKeyClass(LongWritable.class);
    conf.setMapOutputValueClass(Text.class);
    conf.setOutputKeyClass(LongWritable.class);
    conf.setOutputValueClass(Text.class);
    FileOutputFormat.setOutputPath(conf, new Path(args[1]));
    switch (args[0]) {
      case "multiple":
        conf.setReducerClass(Distributor.class);
        MultipleOutputs.addNamedOutput(conf, "text", TextOutputFormat.class, NullWritable.class, Text.class);
        MultipleOutputs.addNamedOutput(
            conf, "sequence", SequenceFileOutputFormat.class, LongWritable.class, Text.class);
        LazyOutputFormat.setOutputFormatClass(conf, TextOutputFormat.class);
        break;
      case "mapfile":
        conf.setOutputFormat(MapFileOutputFormat.class);
        break;
      case "lazy":
        conf.setReducerClass(OddOnly.class);
        LazyOutputFormat.setOutputFormatClass(conf, TextOutputFormat.class);
        break;
      default:
        throw new IllegalArgumentException("no such format: " + args[0]);
    }
    return JobClient.runJob(conf).isSuccessful() ? 0 : 1;
  }

  /** By named outputs, whose files lie beside the job's own. */
  public static class Distributor extends MapReduceBase implements Reducer<LongWritable, Text, LongWritable, Text> {
    private MultipleOutputs outputs;

    @Override
    public void configure(JobConf conf) {
      outputs = new MultipleOutputs(conf);
    }

    @Override
    @SuppressWarnings("unchecked")
    public void reduce(
        LongWritable key, Iterator<Text> rows, OutputCollector<LongWritable, Text> out, Reporter reporter)
        throws IOException {
      while (rows.hasNext()) {
        Text row = rows.next();
        outputs.getCollector("text", reporter).collect(NullWritable.get(), row);
        outputs.getCollector("sequence", reporter).collect(key, row);
      }
    }

    @Override
    public void close() throws IOException {
      outputs.close();
    }
  }

  /** Nothing from the even reducers. */
  public static class OddOnly extends MapReduceBase implements Reducer<LongWritable, Text, LongWritable, Text> {
    private int task;

    @Override
    public void configure(JobConf conf) {
      task = conf.getInt("mapreduce.task.partition", 0);
    }

    @Override
    public void reduce(
        LongWritable key, Iterator<Text> rows, OutputCollector<LongWritable, Text> out, Reporter reporter)
        throws IOException {
      while (rows.hasNext()) {
        Text row = rows.next();
        if (task % 2 == 1) {
          out.collect(key, row);
        }
      }
    }
  }
}
