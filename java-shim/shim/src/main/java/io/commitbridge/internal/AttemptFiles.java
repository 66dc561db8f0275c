package io.commitbridge.internal;

import io.commitbridge.proto.v1.ClosedFile;
import io.commitbridge.proto.v1.PendingFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The files of one task attempt in this JVM, by their path below the work path. */
final class AttemptFiles {
  private final WorkPath key;
  private final TreeMap<String, OutputFile> files = new TreeMap<>();
  /** Uploads that were given up while AbortFile didn't go through. */
  private final List<PendingFile> discarded = new ArrayList<>();
  private boolean ended;

  AttemptFiles(WorkPath key) {
    this.key = key;
  }

  /** Adds a file; returns the one that it takes the place of, or null. */
  synchronized OutputFile put(OutputFile file) throws IOException {
    if (ended) {
      throw new IOException("The task attempt was committed or aborted: " + key);
    }
    return files.put(file.relative, file);
  }

  synchronized OutputFile get(String relative) {
    return files.get(relative);
  }

  synchronized void remove(OutputFile file) {
    files.remove(file.relative, file);
  }

  synchronized void discard(PendingFile pending) {
    discarded.add(pending);
  }

  /** The files of a directory, or all of them where it is the work path itself. */
  synchronized List<OutputFile> below(String directory) {
    if (directory.isEmpty()) {
      return new ArrayList<>(files.values());
    }
    String prefix = directory + "/";
    List<OutputFile> found = new ArrayList<>();
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
