package io.commitbridge.internal;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import io.commitbridge.proto.v1.ConflictMode;
import io.commitbridge.proto.v1.DataPlane;
import io.commitbridge.proto.v1.GetServerInfoResponse;
import io.commitbridge.proto.v1.JobOptions;
import io.commitbridge.proto.v1.SetupJobRequest;
import io.commitbridge.proto.v1.TaskRecords;
import java.io.IOException;
import java.util.Collections;
import java.util.Locale;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * setupJob: everything that a half-configured binding gets wrong is refused here, before the first
 * task runs. Remembers the token, since commitJob must name the same job.
 */
final class JobSetup {
  /** The version of the protocol that this shim speaks. */
  static final int PROTOCOL_VERSION = 1;
  private static final int MAX_DESCRIPTION = 200;
  private static final Logger LOG = LoggerFactory.getLogger(JobSetup.class);

  private final Path outputPath;
  private final String destination;
  private final JobTerms terms;
  /** One for each driver: a replay has the same, another driver has not. */
  private final String setupId = UUID.randomUUID().toString();
  private volatile String token;
  private volatile boolean mayHaveHappened;
  private volatile long maxMessageBytes = Long.MAX_VALUE;

  JobSetup(Path outputPath, String destination, JobTerms terms) {
    this.outputPath = outputPath;
    this.destination = destination;
    this.terms = terms;
  }

  /** The token that this instance set up, or null. */
  String token() {
    return token;
  }

  /** Whether this instance set the job up, or tried to and didn't learn how that ended. */
  boolean mayHaveHappened() {
    return mayHaveHappened;
  }

  /** What the daemon takes in one message. */
  long maxMessageBytes() {
    return maxMessageBytes;
  }

  void run(JobContext context) throws IOException {
    Configuration conf = context.getConfiguration();
    terms.check(outputPath, conf);
    refuseOtherPlanes(conf);
    JobOptions options = options(conf);
    Settings settings = new Settings(conf);
    settings.requireEndpoints();
    DaemonClient client = new DaemonClient(settings, Progress.of(context));
    GetServerInfoResponse info = client.getServerInfo(destination);
    requireCommonGround(info, settings);
    sayInlineLimit(info, settings, conf);
    if (info.getLimits().getMaxMessageBytes() > 0) {
      maxMessageBytes = info.getLimits().getMaxMessageBytes();
    }
    String name = token != null
        ? token : terms.nameForSetup(conf, context.getJobID(), destination);
    SetupJobRequest request = SetupJobRequest.newBuilder()
        .setJob(Attempts.job(
            Collections.singletonList(name), Attempts.jobAttempt(conf), destination))
        .setSetupId(setupId)
        .setOptions(options)
        .setDescription(description(context))
        .setProtocolVersion(PROTOCOL_VERSION)
        .build();
    try {
      client.setupJob(request);
    } catch (CommitbridgeException e) {
      // After a refusal the name may be another driver's job, which abortJob must leave alone.
      mayHaveHappened = mayHaveHappened || isOutcomeUnknown(e);
      token = mayHaveHappened ? name : token;
      throw e;
    }
    mayHaveHappened = true;
    token = name;
    LOG.info("Job set up: token={} destination={}", name, destination);
  }

  private static boolean isOutcomeUnknown(CommitbridgeException e) {
    switch (e.getReason()) {
      case CommitbridgeException.UNREACHABLE:
      case "STORE_UNAVAILABLE":
      case "DRAINING":
      case "INTERNAL":
      case "UNKNOWN":
      case "CANCELLED":
        return true;
      default:
        return false;
    }
  }

  private static void refuseOtherPlanes(Configuration conf) throws IOException {
    String plane = conf.getTrimmed(ConfKeys.DATA_PLANE, "auto").toLowerCase(Locale.ROOT);
    switch (plane) {
      case "auto":
      case "direct":
        return;
      case "stream":
      case "local":
        throw new CommitbridgeException(CommitbridgeException.CONFIGURATION,
            ConfKeys.DATA_PLANE + " is " + plane
                + ", which this version of the shim doesn't have: set it to auto or direct");
      default:
        throw new CommitbridgeException(CommitbridgeException.CONFIGURATION,
            ConfKeys.DATA_PLANE + " is '" + plane + "': it must be auto, direct, stream or local");
    }
  }

  private JobOptions options(Configuration conf) throws IOException {
    JobOptions.Builder options = JobOptions.newBuilder();
    String mode = conf.getTrimmed(ConfKeys.CONFLICT_MODE, "append").toLowerCase(Locale.ROOT);
    switch (mode) {
      case "append":
        options.setConflictMode(ConflictMode.CONFLICT_MODE_APPEND);
        break;
      case "fail":
        options.setConflictMode(ConflictMode.CONFLICT_MODE_FAIL);
        break;
      case "replace":
        options.setConflictMode(ConflictMode.CONFLICT_MODE_REPLACE);
        break;
      default:
        throw new CommitbridgeException(CommitbridgeException.CONFIGURATION,
            ConfKeys.CONFLICT_MODE + " is '" + mode + "': it must be append, fail or replace");
    }
    options.setSkipSuccessMarker(!conf.getBoolean(
        FileOutputCommitter.SUCCESSFUL_JOB_OUTPUT_DIR_MARKER, true));
    // Set for a whole application, it meets writes that no commit protocol is behind: theirs are stored.
    if (isWithDriver(conf) && terms.carriesTaskRecords()) {
      options.setTaskRecords(TaskRecords.TASK_RECORDS_DRIVER);
    }
    terms.apply(options);
    return options.build();
  }

  /** Whether commitTask returns the attempt's record instead of writing it. */
  static boolean isWithDriver(Configuration conf) throws IOException {
    String keeper = conf.getTrimmed(ConfKeys.TASK_RECORDS, ConfKeys.TASK_RECORDS_DEFAULT)
        .toLowerCase(Locale.ROOT);
    switch (keeper) {
      case "client":
        return false;
      case "driver":
        return true;
      default:
        throw new CommitbridgeException(CommitbridgeException.CONFIGURATION,
            ConfKeys.TASK_RECORDS + " is '" + keeper + "': it must be client or driver");
    }
  }

  private static void requireCommonGround(GetServerInfoResponse info, Settings settings)
      throws IOException {
    int min = info.getMinProtocolVersion();
    int max = info.getMaxProtocolVersion();
    String daemon = "the daemon " + info.getVersion() + " at "
        + String.join(", ", settings.endpoints);
    if (PROTOCOL_VERSION < min || PROTOCOL_VERSION > max) {
      throw new CommitbridgeException("UNSUPPORTED", "The shim speaks protocol version "
          + PROTOCOL_VERSION + ", " + daemon + " speaks " + min + " to " + max
          + ". Use a jar and a daemon of one release");
    }
    if (!info.getDataPlanesList().contains(DataPlane.DATA_PLANE_DIRECT)) {
      throw new CommitbridgeException("UNSUPPORTED", "The shim sends bytes straight to the store"
          + " and " + daemon + " doesn't offer the direct data plane for this destination: its"
          + " store can't presign. " + ConfKeys.DATA_PLANE + " has no other choice in this version");
    }
  }

  /** Only what somebody set is worth a word; the default is meant to give way. */
  private static void sayInlineLimit(
      GetServerInfoResponse info, Settings settings, Configuration conf) {
    long daemons = info.getLimits().getMaxInlineBytes();
    if (conf.get(ConfKeys.INLINE_LIMIT) != null && settings.inlineLimitBytes > daemons) {
      LOG.warn("{} is {} and the daemon takes {} bytes (upload.inlineLimit; 0 also where its store"
          + " can't presign): larger files are uploaded", ConfKeys.INLINE_LIMIT,
          settings.inlineLimitBytes, daemons);
    }
  }

  private static String description(JobContext context) {
    String name = context.getConfiguration().get("spark.app.name", "");
    if (name.isEmpty() && context.getJobName() != null) {
      name = context.getJobName();
    }
    String text = name + " (" + System.getProperty("user.name") + ")";
    // At most 1,024 bytes: 200 characters are 800 at most.
    return text.length() <= MAX_DESCRIPTION ? text : text.substring(0, MAX_DESCRIPTION);
  }
}
