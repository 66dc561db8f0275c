package io.commitbridge.it.mapreduce;

import io.commitbridge.BridgeParquetOutputFormat;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.SequenceFile.CompressionType;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.NLineInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.LazyOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.MapFileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.MultipleOutputs;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetOutputFormat;
import org.apache.parquet.hadoop.example.GroupWriteSupport;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/** Rows through Hadoop's output formats of the new API: {@code OutputsJob [-D …] FORMAT DESTINATION}. */
public final class OutputsJob extends Configured implements Tool {
  private static final MessageType SCHEMA =
      MessageTypeParser.parseMessageType("message row { required int64 number; required binary value (UTF8); }");

  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new OutputsJob(), args));
  }

  @Override
  public int run(String[] args) throws Exception {
    Configuration conf = getConf();
    Job job = Job.getInstance(conf, args[0]);
    job.setJarByClass(OutputsJob.class);
    job.setInputFormatClass(NLineInputFormat.class);
    NLineInputFormat.addInputPath(job, Rows.input(job.getConfiguration()));
    job.setMapperClass(WriteJob.Sender.class);
    job.setMapOutputKeyClass(LongWritable.class);
    job.setMapOutputValueClass(Text.class);
    job.setOutputKeyClass(LongWritable.class);
    job.setOutputValueClass(Text.class);
    FileOutputFormat.setOutputPath(job, new Path(args[1]));
    switch (args[0]) {
      case "multiple":
        job.setReducerClass(Distributor.class);
        MultipleOutputs.addNamedOutput(job, "text", TextOutputFormat.class, NullWritable.class, Text.class);
        MultipleOutputs.addNamedOutput(
            job, "sequence", SequenceFileOutputFormat.class, LongWritable.class, Text.class);
        LazyOutputFormat.setOutputFormatClass(job, TextOutputFormat.class);
        break;
      case "mapfile":
        job.setOutputFormatClass(MapFileOutputFormat.class);
        break;
      case "lazy":
        job.setReducerClass(OddOnly.class);
        LazyOutputFormat.setOutputFormatClass(job, TextOutputFormat.class);
        break;
      case "sequence":
        job.setOutputFormatClass(SequenceFileOutputFormat.class);
        FileOutputFormat.setOutputCompressorClass(job, GzipCodec.class);
        SequenceFileOutputFormat.setOutputCompressionType(job, CompressionType.BLOCK);
        FileOutputFormat.setCompressOutput(job, true);
        break;
      case "parquet":
        job.setReducerClass(Grouper.class);
        job.setOutputKeyClass(Void.class);
        job.setOutputValueClass(Group.class);
        job.setOutputFormatClass(BridgeParquetOutputFormat.class);
        ParquetOutputFormat.setWriteSupportClass(job, GroupWriteSupport.class);
        GroupWriteSupport.setSchema(SCHEMA, job.getConfiguration());
        break;
      default:
        throw new IllegalArgumentException("no such format: " + args[0]);
    }
    return job.waitForCompletion(true) ? 0 : 1;
  }

  /** Into sub-directories by name. */
  public static class Distributor extends Reducer<LongWritable, Text, LongWritable, Text> {
    private MultipleOutputs<LongWritable, Text> outputs;

    @Override
    protected void setup(Context context) {
      outputs = new MultipleOutputs<>(context);
    }

    @Override
    protected void reduce(LongWritable key, Iterable<Text> rows, Context context)
        throws IOException, InterruptedException {
      for (Text row : rows) {
        outputs.write("text", NullWritable.get(), row, "half=" + key.get() % 2 + "/part");
        outputs.write("sequence", key, row, "all/sequence");
      }
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      outputs.close();
    }
  }

  /** Nothing from the even reducers. */
  public static class OddOnly extends Reducer<LongWritable, Text, LongWritable, Text> {
    @Override
    protected void reduce(LongWritable key, Iterable<Text> rows, Context context)
        throws IOException, InterruptedException {
      if (context.getTaskAttemptID().getTaskID().getId() % 2 == 1) {
        for (Text row : rows) {
          context.write(key, row);
        }
      }
    }
  }

  /** Parquet's example records. */
  public static class Grouper extends Reducer<LongWritable, Text, Void, Group> {
    private final SimpleGroupFactory groups = new SimpleGroupFactory(SCHEMA);

    @Override
    protected void reduce(LongWritable key, Iterable<Text> rows, Context context)
        throws IOException, InterruptedException {
      for (Text row : rows) {
        context.write(null, groups.newGroup().append("number", key.get()).append("value", row.toString()));
      }
    }
  }
}
