package io.commitbridge.internal;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileSystem.Statistics;
import org.apache.hadoop.fs.Path;

/**
 * Where written bytes are counted. MapReduce's "Bytes Written" adds up the statistics of the
 * destination's scheme, Spark those of all schemes: so they are counted once, there, and under the
 * work path's own scheme only where no FileSystem of the destination's is loaded.
 */
public final class WriteStatistics {
  private WriteStatistics() {}

  /**
   * The statistics for a file.
   *
   * @param path below a work path
   * @param own of the work path's FileSystem
   */
  @SuppressWarnings("deprecation") // what replaces them can't be added to
  public static Statistics of(Path path, Statistics own) throws IOException {
    WorkPath.Location location = WorkPath.parse(path);
    if (location == null) {
      return own;
    }
    String scheme = new Path(location.finalUri()).toUri().getScheme();
    for (Statistics candidate : FileSystem.getAllStatistics()) {
      if (candidate.getScheme().equals(scheme)) {
        return candidate;
      }
    }
    return own;
  }
}
