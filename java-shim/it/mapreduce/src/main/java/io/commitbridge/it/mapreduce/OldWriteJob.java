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
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.Mapper;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reducer;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.lib.NLineInputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** As {@link WriteJob}, in the old API. */
public final class OldWriteJob extends Configured implements Tool {
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new OldWriteJob(), args));
  }

  @Override
  public int run(String[] args) throws Exception {
    JobConf conf = new JobConf(getConf(), OldWriteJob.class);
    conf.setJobName("write (mapred)");
    conf.setInputFormat(NLineInputFormat.class);
    FileInputFormat.setInputPaths(conf, Rows.input(conf));
    conf.setNumReduceTasks(conf.getInt("mapreduce.job.reduces", 0));
    conf.setMapOutputKeyClass(LongWritable.class);
    conf.setMapOutputValueClass(Text.class);
    if (conf.getNumReduceTasks() == 0) {
      conf.setMapperClass(Writer.class);
    } else {
      conf.setMapperClass(Sender.class);
      conf.setReducerClass(Receiver.class);
    }
    conf.setOutputKeyClass(NullWritable.class);
    conf.setOutputValueClass(Text.class);
    FileOutputFormat.setOutputPath(conf, new Path(args[0]));
    return JobClient.runJob(conf).isSuccessful() ? 0 : 1;
  }

  /** Keeps the configuration for a task. */
  private abstract static class Base extends MapReduceBase {
    JobConf conf;
    TaskAttemptID attempt;

    @Override
    public void configure(JobConf job) {
      conf = job;
      attempt = TaskAttemptID.forName(job.get("mapreduce.task.attempt.id"));
    }
  }

  /** Map-only. */
  public static class Writer extends Base implements Mapper<LongWritable, Text, NullWritable, Text> {
    private int written;

    @Override
    public void map(LongWritable key, Text line, OutputCollector<NullWritable, Text> out, Reporter reporter)
        throws IOException {
      Rows.beforeRow(conf, attempt, written++);
      out.collect(NullWritable.get(), new Text(Rows.row(conf, Long.parseLong(line.toString()))));
    }
  }

  /** Rows to the reducers, in turn. */
  public static class Sender extends Base implements Mapper<LongWritable, Text, LongWritable, Text> {
    @Override
    public void map(LongWritable key, Text line, OutputCollector<LongWritable, Text> out, Reporter reporter)
        throws IOException {
      long number = Long.parseLong(line.toString());
      out.collect(new LongWritable(number % Rows.perMap(conf)), new Text(Rows.row(conf, number)));
    }
  }

  /** Rows to the output. */
  public static class Receiver extends Base implements Reducer<LongWritable, Text, NullWritable, Text> {
    private int written;

    @Override
    public void reduce(
        LongWritable key, Iterator<Text> rows, OutputCollector<NullWritable, Text> out, Reporter reporter)
        throws IOException {
      while (rows.hasNext()) {
        Rows.beforeRow(conf, attempt, written++);
        out.collect(NullWritable.get(), rows.next());
      }
    }
  }
}
