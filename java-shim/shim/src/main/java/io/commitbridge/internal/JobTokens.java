package io.commitbridge.internal;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * The names that a job may be known under, most specific first. Driver and tasks see different
 * things: in Spark SQL the driver has no JobID and the tasks have another one; with a plain
 * Configuration an RDD write's tasks see the JobID only. So the driver sets up under the first name
 * that it has, tasks send all that they can derive, and the daemon takes the first that is set up.
 */
final class JobTokens {
  static final String SPARK_WRITE_UUID = "spark.sql.sources.writeJobUUID";
  static final String TEZ_COMMITTER_UUID = "job.committer.uuid";
  private static final Pattern VALID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,199}");
  private static final Pattern FORBIDDEN = Pattern.compile("[^A-Za-z0-9._-]");

  private JobTokens() {}

  /**
   * All names that can be derived.
   *
   * @param jobId the JobID of the call's own context, null where it has none; never the one of the
   *     committer's constructor, which on Spark's driver is a random one
   */
  static List<String> candidates(Configuration conf, JobID jobId, String destination)
      throws CommitbridgeException {
    Set<String> names = new LinkedHashSet<>();
    String given = given(conf);
    if (!given.isEmpty()) {
      names.add(given);
    }
    String application = SparkApplication.id(conf);
    String writeUuid = conf.getTrimmed(SPARK_WRITE_UUID, "");
    if (!application.isEmpty() && jobId != null) {
      names.add(clean(application + "-" + jobId));
    }
    if (!writeUuid.isEmpty()) {
      names.add(clean(writeUuid));
    }
    String tez = conf.getTrimmed(TEZ_COMMITTER_UUID, "");
    if (!tez.isEmpty()) {
      names.add(clean(tez));
    }
    // A JobID that Spark made comes from a clock and isn't unique between applications.
    if (jobId != null && application.isEmpty() && writeUuid.isEmpty()) {
      names.add(mapReduce(conf, jobId, destination));
    }
    String made = conf.getTrimmed(ConfKeys.INTERNAL_JOB_TOKEN, "");
    if (!made.isEmpty()) {
      names.add(clean(made));
    }
    return new ArrayList<>(names);
  }

  /** The name that the user gave the job, or an empty text. */
  static String given(Configuration conf) throws CommitbridgeException {
    String given = conf.getTrimmed(ConfKeys.JOB_TOKEN, "");
    if (!given.isEmpty() && !VALID.matcher(given).matches()) {
      throw new CommitbridgeException(CommitbridgeException.CONFIGURATION,
          ConfKeys.JOB_TOKEN + " is '" + given + "': it must match " + VALID.pattern());
    }
    return given;
  }

  /** The one name for setupJob; made, and put into the configuration, where there is none. */
  static String forSetup(Configuration conf, JobID jobId, String destination)
      throws CommitbridgeException {
    // What an earlier write left behind names a job that has ended.
    conf.unset(ConfKeys.INTERNAL_JOB_TOKEN);
    List<String> names = candidates(conf, jobId, destination);
    if (!names.isEmpty()) {
      return names.get(0);
    }
    String made = UUID.randomUUID().toString();
    conf.set(ConfKeys.INTERNAL_JOB_TOKEN, made);
    return made;
  }

  /** As {@link #candidates}, refusing a task that nothing names. */
  static List<String> required(Configuration conf, JobID jobId, String destination)
      throws CommitbridgeException {
    List<String> names = candidates(conf, jobId, destination);
    if (names.isEmpty()) {
      throw new CommitbridgeException(CommitbridgeException.CONFIGURATION,
          "Nothing says which job the output for " + destination + " belongs to: there is no JobID"
              + " and the configuration has none of " + ConfKeys.JOB_TOKEN + ", "
              + SPARK_WRITE_UUID + ", " + TEZ_COMMITTER_UUID + ", " + ConfKeys.INTERNAL_JOB_TOKEN
              + ". Set " + ConfKeys.JOB_TOKEN + " to a value of its own for each job");
    }
    return names;
  }

  /** LocalJobRunner numbers its jobs from a small random number: add what is the job's own. */
  private static String mapReduce(Configuration conf, JobID jobId, String destination) {
    String id = jobId.toString();
    if (!id.startsWith("job_local")) {
      return clean(id);
    }
    return clean(id) + "-"
        + Settings.shortHash(destination + "\n" + conf.get(MRJobConfig.MAPREDUCE_JOB_DIR, ""));
  }

  /** A name that the daemon takes. */
  static String clean(String name) {
    String cleaned = FORBIDDEN.matcher(name).replaceAll("-");
    if (!cleaned.isEmpty() && !Character.isLetterOrDigit(cleaned.charAt(0))) {
      cleaned = "x" + cleaned;
    }
    return cleaned.length() <= 200
        ? cleaned : cleaned.substring(0, 183) + "-" + Settings.shortHash(name);
  }
}
