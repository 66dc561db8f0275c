package io.commitbridge.internal;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.proto.v1.JobOptions;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobID;

/** What a binding knows of a job besides its configuration: names, and what its commit replaces. */
interface JobTerms {
  /** Nothing: a committer under an engine's own commit protocol. */
  JobTerms CONFIGURED = new JobTerms() {
    @Override
    public void check(Path outputPath, Configuration conf) throws IOException {
      if (Destination.isSparkStaging(outputPath, conf)) {
        throw new CommitbridgeException(CommitbridgeException.CONFIGURATION,
            "Dynamic partition overwrite needs Commitbridge's commit protocol: with this one, Spark"
                + " itself would delete and rename below " + outputPath
                + ". Set spark.sql.sources.commitProtocolClass="
                + "io.commitbridge.spark.BridgeCommitProtocol, or"
                + " spark.sql.sources.partitionOverwriteMode=static");
      }
    }

    @Override
    public String nameForSetup(Configuration conf, JobID jobId, String destination)
        throws IOException {
      return JobTokens.forSetup(conf, jobId, destination);
    }

    @Override
    public List<String> names(Configuration conf, JobID jobId, String destination)
        throws IOException {
      return JobTokens.required(conf, jobId, destination);
    }

    @Override
    public void apply(JobOptions.Builder options) {}
  };

  /** Refuses a job that this binding can't commit. */
  void check(Path outputPath, Configuration conf) throws IOException;

  /** The one name to set the job up under. */
  String nameForSetup(Configuration conf, JobID jobId, String destination) throws IOException;

  /** The names that the job may have been set up under, most specific first. */
  List<String> names(Configuration conf, JobID jobId, String destination) throws IOException;

  /** Whether what commitTask returns gets to commitJob. */
  default boolean carriesTaskRecords() {
    return false;
  }

  /** Adds to the options that the configuration gives. */
  void apply(JobOptions.Builder options);
}
