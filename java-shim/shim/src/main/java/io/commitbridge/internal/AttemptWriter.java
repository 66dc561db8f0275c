package io.commitbridge.internal;

import io.commitbridge.internal.WorkPath.Location;
import io.commitbridge.proto.v1.JobRef;
import io.commitbridge.proto.v1.PendingFile;
import io.commitbridge.proto.v1.TaskAttemptRef;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.util.Progressable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the FileSystem does, on the registry and the daemon. Paths are absolute. */
public final class AttemptWriter {
  private static final Logger LOG = LoggerFactory.getLogger(AttemptWriter.class);
  private static final long BLOCK_BYTES = 32 * 1024 * 1024;

  private final Settings settings;

  /** Nothing is sent. The configuration may be another job's with the same settings. */
  public AttemptWriter(Configuration conf) {
    settings = new Settings(conf);
  }

  /**
   * Starts a file of the attempt that the path names.
   *
   * @param progressable is told while the stream waits for the daemon or the store; may be null
   */
  public OutputStream create(Path path, boolean overwrite, Progressable progressable)
      throws IOException {
    Location location = requireBelowWorkPath(path);
    settings.requireEndpoints();
    AttemptFiles attempt = AttemptRegistry.forWriting(location.work);
    if (!overwrite && attempt.get(location.key()) != null) {
      throw new FileAlreadyExistsException("The task attempt has written this file already: "
          + location.finalUri());
    }
    if (!attempt.below(location.key()).isEmpty()) {
      throw new FileAlreadyExistsException("The task attempt has files below this path: "
          + location.finalUri());
    }
    OutputFile file = new OutputFile(location.key(), location.finalUri());
    Progress progress = Progress.of(progressable);
    UploadSession session = new UploadSession(
        new DaemonClient(settings, progress), job(location), attempt(location), file);
    UploadStream stream = new UploadStream(file, session, attempt.inline, settings, progress);
    file.writtenBy(stream);
    OutputFile before = attempt.put(file);
    if (before != null) {
      giveUp(location, attempt, before);
    }
    return stream;
  }

  /** Gives files up. True where there were any. */
  public boolean delete(Path path, boolean recursive) throws IOException {
    Location location = WorkPath.parse(path);
    AttemptFiles attempt = location == null ? null : AttemptRegistry.find(location.work);
    if (attempt == null) {
      return false;
    }
    OutputFile file = attempt.get(location.key());
    List<OutputFile> found = new ArrayList<>();
    if (file != null) {
      found.add(file);
    } else {
      found.addAll(attempt.below(location.key()));
      if (!found.isEmpty() && !recursive) {
        throw new PathIsNotEmptyDirectoryException(path.toString());
      }
    }
    for (OutputFile each : found) {
      attempt.remove(each);
      giveUp(location, attempt, each);
    }
    return !found.isEmpty();
  }

  /** As FileSystem.getFileStatus. */
  public FileStatus status(Path path) throws IOException {
    Location location = WorkPath.parse(path);
    if (location == null || location.relative.isEmpty()) {
      return directory(path);
    }
    AttemptFiles attempt = AttemptRegistry.find(location.work);
    if (attempt != null) {
      OutputFile file = attempt.get(location.key());
      if (file != null) {
        return status(path, file);
      }
      if (!attempt.below(location.key()).isEmpty()) {
        return directory(path);
      }
    }
    throw new FileNotFoundException("The task attempt has no such file: " + path);
  }

  /** As FileSystem.listStatus. */
  public FileStatus[] list(Path path) throws IOException {
    FileStatus self = status(path);
    Location location = WorkPath.parse(path);
    if (self.isFile()) {
      return new FileStatus[] {self};
    }
    AttemptFiles attempt = location == null ? null : AttemptRegistry.find(location.work);
    Map<String, FileStatus> children = new LinkedHashMap<>();
    if (attempt != null) {
      int skip = location.key().isEmpty() ? 0 : location.key().length() + 1;
      for (OutputFile file : attempt.below(location.key())) {
        String rest = file.key.substring(skip);
        int slash = rest.indexOf('/');
        String name = slash < 0 ? rest : rest.substring(0, slash);
        Path child = new Path(path, new Path(null, null, name));
        children.put(name, slash < 0 ? status(child, file) : directory(child));
      }
    }
    return children.values().toArray(new FileStatus[0]);
  }

  /** Aborts the upload now; where that fails, abortTask or the end of the job does it. */
  private void giveUp(Location location, AttemptFiles attempt, OutputFile file) {
    PendingFile pending = file.abandon();
    attempt.inline.giveBack(file.inlineBytes());
    if (pending == null) {
      return;
    }
    try {
      new DaemonClient(settings, Progress.NONE)
          .abortFile(job(location), attempt(location), pending);
    } catch (IOException e) {
      attempt.discard(pending);
      LOG.warn("An upload that was overwritten or deleted could not be aborted yet: uri={} error={}",
          file.uri, e.getMessage());
    }
  }

  private static JobRef job(Location location) {
    return Attempts.job(
        location.work.tokens, location.work.jobAttempt, location.work.destination);
  }

  private static TaskAttemptRef attempt(Location location) {
    return Attempts.attempt(location.work.attemptId);
  }

  private static Location requireBelowWorkPath(Path path) throws IOException {
    Location location = WorkPath.parse(path);
    if (location == null || location.relative.isEmpty()) {
      throw new IOException("Not a file below a task attempt's work path: " + path);
    }
    return location;
  }

  private static FileStatus status(Path path, OutputFile file) {
    return new FileStatus(file.length(), false, 1, BLOCK_BYTES, file.createdAt(), path);
  }

  private static FileStatus directory(Path path) {
    return new FileStatus(0, true, 1, 0, 0, path);
  }
}
