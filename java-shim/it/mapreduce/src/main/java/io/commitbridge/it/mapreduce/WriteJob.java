package io.commitbridge.it.mapreduce;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.NLineInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** Writes rows as text, in the new API: {@code WriteJob [-D key=value]… DESTINATION}. Map-only without reduces. */
public final class WriteJob extends Configured implements Tool {
  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new WriteJob(), args));
  }

  @Override
  public int run(String[] args) throws Exception {
    Configuration conf = getConf();
    Job job = Job.getInstance(conf, "write");
    job.setJarByClass(WriteJob.class);
    job.setInputFormatClass(NLineInputFormat.class);
    NLineInputFormat.addInputPath(job, Rows.input(job.getConfiguration()));
    job.setNumReduceTasks(conf.getInt("mapreduce.job.reduces", 0));
    job.setMapOutputKeyClass(LongWritable.class);
    job.setMapOutputValueClass(Text.class);
    if (job.getNumReduceTasks() == 0) {
      job.setMapperClass(Writer.class);
    } else {
      job.setMapperClass(Sender.class);
      job.setReducerClass(Receiver.class);
    }
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    FileOutputFormat.setOutputPath(job, new Path(args[0]));
    return job.waitForCompletion(true) ? 0 : 1;
  }

  /** Map-only. */
  public static class Writer extends Mapper<LongWritable, Text, NullWritable, Text> {
    private int written;

    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      Rows.beforeRow(context.getConfiguration(), context.getTaskAttemptID(), written++);
      String row = Rows.row(context.getConfiguration(), Long.parseLong(line.toString()));
      context.write(NullWritable.get(), new Text(row));
    }
  }

  /** Rows to the reducers, in turn. */
  public static class Sender extends Mapper<LongWritable, Text, LongWritable, Text> {
    @Override
    protected void map(LongWritable key, Text line, Context context) throws IOException, InterruptedException {
      Configuration conf = context.getConfiguration();
      long number = Long.parseLong(line.toString());
      context.write(new LongWritable(number % Rows.perMap(conf)), new Text(Rows.row(conf, number)));
    }
  }

  /** Rows to the output. */
  public static class Receiver extends Reducer<LongWritable, Text, NullWritable, Text> {
    private int written;

    @Override
    protected void reduce(LongWritable key, Iterable<Text> rows, Context context)
        throws IOException, InterruptedException {
      for (Text row : rows) {
        Rows.beforeRow(context.getConfiguration(), context.getTaskAttemptID(), written++);
        context.write(NullWritable.get(), row);
      }
    }
  }
}
