package io.commitbridge.internal;

import io.commitbridge.proto.v1.ClosedFile;
import io.commitbridge.proto.v1.PendingFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The files of one task attempt in this JVM, by {@link WorkPath.Location#key()}. */
final class AttemptFiles {
  /** What its files may use up by travelling inline. */
  final InlineBudget inline;
  private final WorkPath attempt;
  private final TreeMap<String, OutputFile> files = new TreeMap<>();
  /** Uploads that were given up while AbortFile didn't go through. */
  private final List<PendingFile> discarded = new ArrayList<>();
  private boolean ended;

  AttemptFiles(WorkPath attempt, InlineBudget inline) {
    this.attempt = attempt;
    this.inline = inline;
  }

  /** Adds a file; returns the one that it takes the place of, or null. */
  synchronized OutputFile put(OutputFile file) throws IOException {
    if (ended) {
      throw new IOException("The task attempt was committed or aborted: " + attempt);
    }
    return files.put(file.key, file);
  }

  synchronized OutputFile get(String key) {
    return files.get(key);
  }

  synchronized void remove(OutputFile file) {
    files.remove(file.key, file);
  }

  synchronized void discard(PendingFile pending) {
    discarded.add(pending);
  }

  /** The files of a directory, or all at the destination where it is the work path itself. */
  synchronized List<OutputFile> below(String directory) {
    List<OutputFile> found = new ArrayList<>();
    if (directory.isEmpty()) {
      for (OutputFile file : files.values()) {
        if (!file.key.startsWith("/")) {
          found.add(file);
        }
      }
      return found;
    }
    String prefix = directory + "/";
    for (Map.Entry<String, OutputFile> entry : files.tailMap(prefix).entrySet()) {
      if (!entry.getKey().startsWith(prefix)) {
        break;
      }
      found.add(entry.getValue());
    }
    return found;
  }

  /** What commitTask hands over. A file that isn't whole fails the commit. */
  synchronized List<ClosedFile> closedFiles() throws IOException {
    List<ClosedFile> closed = new ArrayList<>(files.size());
    for (OutputFile file : files.values()) {
      closed.add(file.toClosedFile());
    }
    return closed;
  }

  /** No file is added any more. */
  synchronized void end() {
    ended = true;
  }

  /** Stops every upload; returns what abortTask names. */
  List<PendingFile> abort() {
    List<OutputFile> all;
    List<PendingFile> pending;
    synchronized (this) {
      all = new ArrayList<>(files.values());
      pending = new ArrayList<>(discarded);
    }
    for (OutputFile file : all) {
      PendingFile upload = file.abandon();
      if (upload != null) {
        pending.add(upload);
      }
    }
    return pending;
  }
}
