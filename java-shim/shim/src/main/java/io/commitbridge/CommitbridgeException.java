package io.commitbridge;

import java.io.IOException;

/**
 * A call to the daemon, or an upload to the store, failed. It's an IOException because MapReduce
 * and Spark handle only those.
 *
 * <p>Where Hadoop has a class of its own for a failure (FileAlreadyExistsException,
 * AccessControlException), that one is thrown and this is its cause.
 */
public class CommitbridgeException extends IOException {
  private static final long serialVersionUID = 1L;

  /** The reason where no daemon answered, or none in time. */
  public static final String UNREACHABLE = "UNREACHABLE";

  /** The reason where the store refused or lost a part. */
  public static final String UPLOAD_FAILED = "UPLOAD_FAILED";

  /** The reason where the configuration is incomplete or asks for what isn't there. */
  public static final String CONFIGURATION = "CONFIGURATION";

  private final String reason;

  /**
   * Makes one.
   *
   * @param reason a name of the protocol's ErrorReason without its prefix, a constant of this
   *     class, or the name of a gRPC status code
   * @param message a sentence for people that says what to do
   */
  public CommitbridgeException(String reason, String message) {
    super(message);
    this.reason = reason;
  }

  /**
   * Makes one that has a cause.
   *
   * @param reason see {@link #CommitbridgeException(String, String)}
   * @param message a sentence for people that says what to do
   * @param cause what went wrong before
   */
  public CommitbridgeException(String reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /**
   * Why, for programs.
   *
   * @return a name of the protocol's ErrorReason without its prefix ({@code JOB_EXISTS}), a
   *     constant of this class, or the name of a gRPC status code
   */
  public String getReason() {
    return reason;
  }
}
