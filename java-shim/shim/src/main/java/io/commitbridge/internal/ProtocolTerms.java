package io.commitbridge.internal;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.proto.v1.ConflictMode;
import io.commitbridge.proto.v1.ConflictScope;
import io.commitbridge.proto.v1.JobOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobID;

/** What Spark's commit protocol knows of a job: its id travels to the tasks with the protocol. */
final class ProtocolTerms implements JobTerms {
  private static final int MAX_REPLACED = 1_000;

  private final String id;
  /** The token of the job that is set up; null before. */
  private final String token;
  private final boolean dynamicOverwrite;
  private final List<Path> replaced;

  private ProtocolTerms(String id, String token, boolean dynamicOverwrite, List<Path> replaced) {
    this.id = id;
    this.token = token;
    this.dynamicOverwrite = dynamicOverwrite;
    this.replaced = replaced;
  }

  static ProtocolTerms ofDriver(String id, boolean dynamicOverwrite, List<Path> replaced) {
    return new ProtocolTerms(id, null, dynamicOverwrite, outermost(replaced));
  }

  static ProtocolTerms ofTask(String id, String token) {
    return new ProtocolTerms(id, token, false, Collections.emptyList());
  }

  @Override
  public void check(Path outputPath, Configuration conf) throws IOException {
    if (replaced.size() > MAX_REPLACED) {
      throw new CommitbridgeException(CommitbridgeException.CONFIGURATION, "The job overwrites "
          + replaced.size() + " directories, most of them partitions with a location of their own;"
          + " one job can overwrite " + MAX_REPLACED + ". Overwrite fewer partitions at once, or set"
          + " spark.sql.sources.partitionOverwriteMode=dynamic");
    }
    for (Path path : replaced) {
      Destination.requireBridged(path, conf);
    }
  }

  @Override
  public String nameForSetup(Configuration conf, JobID jobId, String destination)
      throws IOException {
    return names(conf, jobId, destination).get(0);
  }

  @Override
  public List<String> names(Configuration conf, JobID jobId, String destination)
      throws IOException {
    if (token != null) {
      return Collections.singletonList(token);
    }
    List<String> names = new ArrayList<>(2);
    String given = JobTokens.given(conf);
    if (!given.isEmpty()) {
      names.add(given);
    }
    names.add(JobTokens.clean(id));
    return names;
  }

  @Override
  public boolean carriesTaskRecords() {
    return true;
  }

  @Override
  public void apply(JobOptions.Builder options) {
    // Which partitions have a location of their own is only known to the tasks.
    options.setAllowOtherLocations(true);
    if (dynamicOverwrite) {
      options.setConflictMode(ConflictMode.CONFLICT_MODE_REPLACE)
          .setConflictScope(ConflictScope.CONFLICT_SCOPE_PARTITIONS);
    } else if (!replaced.isEmpty()) {
      options.setConflictMode(ConflictMode.CONFLICT_MODE_REPLACE)
          .setConflictScope(ConflictScope.CONFLICT_SCOPE_PATHS);
      for (Path path : replaced) {
        options.addConflictPaths(path.toString());
      }
    }
  }

  /** Without the paths that lie below others. */
  private static List<Path> outermost(List<Path> paths) {
    List<Path> outermost = new ArrayList<>();
    for (Path path : paths) {
      boolean isCovered = outermost.contains(path);
      for (Path above = path.getParent(); above != null && !isCovered; above = above.getParent()) {
        isCovered = paths.contains(above);
      }
      if (!isCovered) {
        outermost.add(path);
      }
    }
    return outermost;
  }
}
