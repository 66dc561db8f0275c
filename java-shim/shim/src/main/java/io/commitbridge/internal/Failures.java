package io.commitbridge.internal;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.security.AccessControlException;

/** What gRPC says, as IOExceptions whose sentences say what to do. */
final class Failures {
  /** How grpc-java words a connection that the server's end cut in the middle of a call. */
  private static final Pattern CONNECTION_LOST = Pattern.compile(
      "RST_STREAM|HTTP/2 error|GOAWAY|end[- ]of[- ]stream|connection (reset|closed)|broken pipe",
      Pattern.CASE_INSENSITIVE);

  private static final Pattern NETTYS_PIPELINE = Pattern.compile("\\s*Channel Pipeline: \\[.*?\\]");

  private Failures() {}

  /** One failed try of a call. */
  static final class Failure {
    final Status status;
    final String reason;
    final long retryDelayMs;
    private final boolean fromServer;

    Failure(Status status, String reason, long retryDelayMs, boolean fromServer) {
      this.status = status;
      this.reason = reason;
      this.retryDelayMs = retryDelayMs;
      this.fromServer = fromServer;
    }

    /** Whether the same call may be sent again: every RPC is idempotent. */
    boolean mayRepeat() {
      switch (status.getCode()) {
        case UNAVAILABLE:
        case DEADLINE_EXCEEDED:
          return true;
        case ABORTED:
          return "CONCURRENT_OPERATION".equals(reason);
        case INTERNAL:
        case CANCELLED:
        case UNKNOWN:
          return !fromServer && status.getDescription() != null
              && CONNECTION_LOST.matcher(status.getDescription()).find();
        default:
          return false;
      }
    }

    /** Whether the call never left this machine, since nothing accepted the connection. */
    boolean isConnectFailure() {
      for (Throwable t = status.getCause(); t != null; t = t.getCause()) {
        if (t instanceof ConnectException || t instanceof NoRouteToHostException
            || t instanceof UnknownHostException) {
          return true;
        }
      }
      return false;
    }

    /** Whether another endpoint may do better. */
    boolean isEndpointsFault() {
      return mayRepeat() && !reason.equals("CONCURRENT_OPERATION")
          && !reason.equals("STORE_UNAVAILABLE");
    }

    boolean is(String wanted) {
      return reason.equals(wanted);
    }

    /** What happened, in the server's words or in the transport's. */
    String text() {
      StringBuilder text = new StringBuilder();
      String description = status.getDescription();
      text.append(description == null ? status.getCode().name() : description);
      Throwable cause = fromServer ? null : status.getCause();
      String last = text.toString();
      for (int depth = 0; cause != null && depth < 4; depth++, cause = cause.getCause()) {
        String message = cause.getMessage();
        if (message != null && !last.contains(message)) {
          text.append(": ").append(message);
          last = message;
        }
      }
      return NETTYS_PIPELINE.matcher(text).replaceAll("");
    }
  }

  static Failure of(Throwable thrown) {
    Status status;
    com.google.rpc.Status details;
    if (thrown instanceof StatusRuntimeException) {
      status = ((StatusRuntimeException) thrown).getStatus();
      details = StatusProto.fromThrowable(thrown);
    } else if (thrown instanceof StatusException) {
      status = ((StatusException) thrown).getStatus();
      details = StatusProto.fromThrowable(thrown);
    } else {
      status = Status.fromThrowable(thrown);
      details = null;
    }
    String reason = "";
    long delayMs = 0;
    boolean fromServer = false;
    if (details != null) {
      for (Any detail : details.getDetailsList()) {
        try {
          if (detail.is(ErrorInfo.class)) {
            reason = detail.unpack(ErrorInfo.class).getReason();
            fromServer = true;
          } else if (detail.is(RetryInfo.class)) {
            com.google.protobuf.Duration delay = detail.unpack(RetryInfo.class).getRetryDelay();
            delayMs = delay.getSeconds() * 1000 + delay.getNanos() / 1_000_000;
          }
        } catch (InvalidProtocolBufferException e) {
          // A detail that can't be read says nothing; code and description still do.
          continue;
        }
      }
    }
    return new Failure(status, reason, delayMs, fromServer);
  }

  /** The exception for a call that isn't repeated, or no longer. */
  static IOException toIoException(Failure failure, String call, String endpoint, String tried) {
    Status.Code code = failure.status.getCode();
    if (failure.reason.isEmpty() && failure.mayRepeat()) {
      return new CommitbridgeException(CommitbridgeException.UNREACHABLE,
          "No Commitbridge daemon answers " + call + " at " + endpoint + " (" + failure.text() + ")"
              + tried + (failure.isConnectFailure()
                  ? ". Start the daemon, or set " + ConfKeys.ENDPOINTS + " to where it listens"
                  : ". Check that a daemon listens there (" + ConfKeys.ENDPOINTS
                      + ") and whether it expects TLS (commitbridge.tls.*)"));
    }
    String reason = failure.reason.isEmpty() ? code.name() : failure.reason;
    String message = call + " failed: " + failure.text() + " [" + reason + ", daemon at " + endpoint
        + "]" + tried + advice(reason);
    CommitbridgeException exception = new CommitbridgeException(reason, message);
    IOException hadoops;
    switch (code) {
      case PERMISSION_DENIED:
      case UNAUTHENTICATED:
        hadoops = new AccessControlException(message);
        break;
      default:
        if (!reason.equals("DESTINATION_EXISTS")) {
          return exception;
        }
        hadoops = new FileAlreadyExistsException(message);
    }
    hadoops.initCause(exception);
    return hadoops;
  }

  /** What the server's own sentence can't know: keys of this side's configuration. */
  private static String advice(String reason) {
    switch (reason.toUpperCase(Locale.ROOT)) {
      case "JOB_EXISTS":
        return ". Give the job another token (" + ConfKeys.JOB_TOKEN
            + "), or end the old one with `commitbridge jobs abort TOKEN`";
      case "UNAUTHENTICATED":
        return ". Check " + ConfKeys.AUTH_TOKEN_FILE + " and commitbridge.tls.*";
      case "DESTINATION_EXISTS":
        return ". Empty the destination, or set " + ConfKeys.CONFLICT_MODE + " to append";
      case "OVERWROTE_OBJECTS":
        return ". Call commitJob again, or run `commitbridge jobs commit TOKEN`";
      case "STORE_UNAVAILABLE":
        return ". The daemon can't reach the store: see its log";
      case "UNIMPLEMENTED":
        return ". Daemon and jar must be of one release";
      default:
        return "";
    }
  }
}
