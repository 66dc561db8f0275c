package io.commitbridge.internal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.apache.hadoop.fs.Path;

/**
 * Where a task attempt writes:
 * {@code commitbridge://<settings>-<loader>/<tokens>/<job attempt>/<attempt>/<destination>}. A pure
 * function of configuration and attempt within a JVM: Spark's RDD writes make two committers an
 * attempt and write to the path that the one hands out while the other commits.
 *
 * <p>What goes into another directory than the destination (a partition with a location of its own)
 * has {@code <destination>.<directory>} as the last element.
 */
public final class WorkPath {
  /** Scheme of work paths. */
  public static final String SCHEME = "commitbridge";

  /**
   * Tells copies of these classes in one JVM apart (a jar in two class loaders): Hadoop's
   * FileSystem cache is shared between them, the registry of written files isn't, and a commit
   * that misses its files must not happen silently.
   */
  private static final String LOADER = UUID.randomUUID().toString().substring(0, 8);

  final List<String> tokens;
  final int jobAttempt;
  final String attemptId;
  final String destination;

  WorkPath(List<String> tokens, int jobAttempt, String attemptId, String destination) {
    this.tokens = Collections.unmodifiableList(tokens);
    this.jobAttempt = jobAttempt;
    this.attemptId = attemptId;
    this.destination = destination;
  }

  static String authority(Settings settings) {
    return settings.hash() + "-" + LOADER;
  }

  /** Refuses an authority made by another copy of these classes. */
  public static void requireOwnLoader(String authority) throws IOException {
    if (authority == null || !authority.endsWith("-" + LOADER)) {
      throw new IOException("The work path " + SCHEME + "://" + authority + " was not made by this"
          + " copy of Commitbridge's classes. Put the jar on the class path once (--jars or the"
          + " engine's jars folder, not both)");
    }
  }

  /** The folder of the attempt. */
  Path path(Settings settings) {
    return path(settings, encode(destination));
  }

  /** The folder for what the attempt writes into another directory than the destination. */
  Path pathOf(Settings settings, String directory) {
    return path(settings, encode(destination) + "." + encode(directory));
  }

  private Path path(Settings settings, String last) {
    return new Path(SCHEME, authority(settings),
        "/" + String.join(",", tokens) + "/" + jobAttempt + "/" + attemptId + "/" + last);
  }

  private static String encode(String uri) {
    return Base64.getUrlEncoder().withoutPadding()
        .encodeToString(uri.getBytes(StandardCharsets.UTF_8));
  }

  private static String decode(String encoded) {
    return new String(Base64.getUrlDecoder().decode(encoded), StandardCharsets.UTF_8);
  }

  /** A path below a work path, taken apart. */
  public static final class Location {
    final WorkPath work;
    /** Relative to the work path, decoded, without a leading slash; empty for the folder itself. */
    final String relative;
    /** The directory that isn't the destination, or null. */
    private final String directory;

    Location(WorkPath work, String directory, String relative) {
      this.work = work;
      this.directory = directory;
      this.relative = relative;
    }

    /** URI of the final object; nothing in it is URL-encoded or decoded. */
    String finalUri() {
      return below(directory == null ? work.destination : directory);
    }

    /** Tells the attempt's files apart: only those in other directories begin with a slash. */
    String key() {
      if (directory == null) {
        return relative;
      }
      String key = "/" + below(directory);
      return relative.isEmpty() ? key.substring(0, key.length() - 1) : key;
    }

    private String below(String base) {
      return base.endsWith("/") ? base + relative : base + "/" + relative;
    }
  }

  /**
   * Takes a path of this scheme apart.
   *
   * @return null where the path is above an attempt's folder
   * @throws IOException where it isn't a work path
   */
  static Location parse(Path path) throws IOException {
    String[] segments = path.toUri().getPath().split("/", 6);
    // segments[0] is what stands before the leading slash.
    if (segments.length < 5 || segments[4].isEmpty()) {
      return null;
    }
    try {
      // The dot isn't in Base64's alphabet.
      String[] places = segments[4].split("\\.", 2);
      WorkPath work = new WorkPath(Arrays.asList(segments[1].split(",")),
          Integer.parseInt(segments[2]), segments[3], decode(places[0]));
      return new Location(work, places.length > 1 ? decode(places[1]) : null,
          segments.length > 5 ? segments[5] : "");
    } catch (IllegalArgumentException e) {
      throw new IOException("Not a work path that a Commitbridge committer made: " + path, e);
    }
  }

  /** Whether both name one attempt's output, be it under other tokens. */
  boolean isSameOutput(WorkPath other) {
    return jobAttempt == other.jobAttempt && attemptId.equals(other.attemptId)
        && destination.equals(other.destination)
        && !Collections.disjoint(tokens, other.tokens);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WorkPath && tokens.equals(((WorkPath) other).tokens)
        && jobAttempt == ((WorkPath) other).jobAttempt
        && attemptId.equals(((WorkPath) other).attemptId)
        && destination.equals(((WorkPath) other).destination);
  }

  @Override
  public int hashCode() {
    return Objects.hash(tokens, jobAttempt, attemptId, destination);
  }

  @Override
  public String toString() {
    return attemptId + " of " + tokens + " for " + destination;
  }
}
