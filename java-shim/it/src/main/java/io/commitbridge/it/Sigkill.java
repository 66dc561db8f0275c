package io.commitbridge.it;

import java.io.IOException;

/** Takes this JVM down as {@code kill -9} does: no hook runs, no stream is closed. */
public final class Sigkill {
  private Sigkill() {}

  /** Doesn't return. */
  public static void self() {
    try {
      new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid())).start().waitFor();
      Thread.sleep(Long.MAX_VALUE);
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException("this JVM could not be killed", e);
    }
  }
}
