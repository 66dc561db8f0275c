package io.commitbridge.internal;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import java.net.URI;
import java.util.Collection;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** What a destination path means, found without asking its FileSystem, which may not be there. */
public final class Destination {
  private static final String SPARK_STAGING = ".spark-staging-";

  private Destination() {}

  /** The path with scheme and authority, taken from the default file system where it has none. */
  static Path qualify(Path path, Configuration conf) {
    URI uri = path.toUri();
    if (uri.getScheme() != null) {
      return path;
    }
    Path home = new Path("/user/" + System.getProperty("user.name"));
    return path.makeQualified(FileSystem.getDefaultUri(conf), home);
  }

  /** Whether the daemon looks after this path, given as text; false for what is no path. */
  public static boolean isBridged(String path, Configuration conf) {
    try {
      return path != null && isBridged(new Path(path), conf);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** Whether the daemon looks after this path. */
  public static boolean isBridged(Path path, Configuration conf) {
    if (path == null) {
      return false;
    }
    String scheme = scheme(path, conf);
    Collection<String> bridged =
        conf.getTrimmedStringCollection(ConfKeys.SCHEMES);
    if (bridged.isEmpty()) {
      bridged = java.util.Arrays.asList(ConfKeys.SCHEMES_DEFAULT.split(","));
    }
    for (String candidate : bridged) {
      if (candidate.equalsIgnoreCase(scheme)) {
        return true;
      }
    }
    return false;
  }

  /** The scheme of a path, or of the default file system where it has none. */
  public static String scheme(Path path, Configuration conf) {
    return qualify(path, conf).toUri().getScheme();
  }

  /** Refuses a directory of a bridged job that the daemon doesn't look after. */
  static void requireBridged(Path path, Configuration conf) throws CommitbridgeException {
    if (!isBridged(path, conf)) {
      throw new CommitbridgeException(CommitbridgeException.CONFIGURATION, "The partition at " + path
          + " can't be written in one commit with its table: its scheme isn't in "
          + ConfKeys.SCHEMES + ". Move the partition to the table's kind of store");
    }
  }

  /**
   * Whether Spark wants dynamic partition overwrite: it then renames from a folder of its own,
   * which the committer or the configuration names.
   */
  static boolean isSparkStaging(Path path, Configuration conf) {
    return isStagingName(path.getName())
        || isStagingName(lastSegment(conf.get("mapreduce.output.fileoutputformat.outputdir", "")));
  }

  private static boolean isStagingName(String name) {
    return name.startsWith(SPARK_STAGING);
  }

  private static String lastSegment(String path) {
    String trimmed = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    return trimmed.substring(trimmed.lastIndexOf('/') + 1);
  }
}
