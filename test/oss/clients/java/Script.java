import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Objects;

/** What the scripts of calls in Java share: one line a call, and a last line with how many were tried and passed. */
final class Script {
  interface Action {
    void run() throws Exception;
  }

  private static int tried;
  private static int passed;

  private Script() {}

  /** Tries a call at once; it passes when it throws nothing. */
  static void call(String name, Action action) {
    tried++;
    try {
      action.run();
      passed++;
      System.out.println("ok      " + name);
    } catch (Throwable failure) {
      StringWriter trace = new StringWriter();
      failure.printStackTrace(new PrintWriter(trace));
      System.out.println("FAILED  " + name + "\n" + trace);
    }
  }

  static void equal(Object actual, Object expected) {
    if (!Objects.equals(actual, expected)) {
      throw new AssertionError(actual + " instead of " + expected);
    }
  }

  static String env(String name) {
    return System.getenv("OSS_" + name);
  }

  static void finish() {
    System.out.println("{\"tried\": " + tried + ", \"passed\": " + passed + "}");
  }
}
