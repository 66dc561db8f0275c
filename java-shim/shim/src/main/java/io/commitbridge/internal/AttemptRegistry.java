package io.commitbridge.internal;

import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The attempts of this JVM that have written files. FileSystem.create fills it, commitTask and
 * abortTask empty it. It's static because committer and FileSystem are made by different parts of
 * the engine and share nothing but the work path.
 */
final class AttemptRegistry {
  private static final int REMEMBERED = 1_000;
  private static final Map<WorkPath, AttemptFiles> ATTEMPTS = new HashMap<>();
  /** Attempts that ended lately: a straggling writer must not bring one back, nobody would end it. */
  private static final Map<WorkPath, Boolean> ENDED = new LinkedHashMap<WorkPath, Boolean>() {
    private static final long serialVersionUID = 1L;

    @Override
    protected boolean removeEldestEntry(Map.Entry<WorkPath, Boolean> eldest) {
      return size() > REMEMBERED;
    }
  };

  /** What attempts that were set up may send inline; one that isn't here any more uploads all. */
  private static final Map<WorkPath, InlineBudget> BUDGETS =
      new LinkedHashMap<WorkPath, InlineBudget>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<WorkPath, InlineBudget> eldest) {
          return size() > REMEMBERED;
        }
      };

  private AttemptRegistry() {}

  /** For setupTask: an engine that uses an attempt id again may write again. */
  static synchronized void begin(WorkPath key, InlineBudget budget) {
    ENDED.remove(key);
    BUDGETS.put(key, budget);
  }

  /** The attempt's files, to add one. */
  static synchronized AttemptFiles forWriting(WorkPath key) throws IOException {
    if (ENDED.containsKey(key)) {
      throw new IOException("The task attempt was committed or aborted and takes no more files: "
          + key);
    }
    return ATTEMPTS.computeIfAbsent(key, attempt ->
        new AttemptFiles(attempt, BUDGETS.getOrDefault(attempt, InlineBudget.NONE)));
  }

  /** The attempt's files, or null where it has none in this JVM. */
  static synchronized AttemptFiles find(WorkPath key) {
    return ATTEMPTS.get(key);
  }

  /**
   * The attempt's files, for its commit.
   *
   * @return null where it wrote none
   * @throws IOException where files of the attempt are here under other names of the job: they
   *     would be missing from a commit that succeeds
   */
  static synchronized AttemptFiles forCommit(WorkPath key) throws IOException {
    AttemptFiles files = ATTEMPTS.get(key);
    if (files == null) {
      for (WorkPath other : ATTEMPTS.keySet()) {
        if (other.isSameOutput(key)) {
          throw new IOException("The task attempt wrote files as " + other
              + " and is now committed as " + key + ": the job's configuration changed in between");
        }
      }
    }
    return files;
  }

  /** Takes the attempt out; its writers can't come back. */
  static synchronized AttemptFiles end(WorkPath key) {
    ENDED.put(key, Boolean.TRUE);
    BUDGETS.remove(key);
    AttemptFiles files = ATTEMPTS.remove(key);
    if (files != null) {
      files.end();
    }
    return files;
  }

  /** How many attempts have files, for tests. */
  static synchronized int size() {
    return ATTEMPTS.size();
  }
}
