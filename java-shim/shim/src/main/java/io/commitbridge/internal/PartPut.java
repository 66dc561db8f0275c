package io.commitbridge.internal;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.proto.v1.SignedPart;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One HTTP PUT to a presigned URL. HttpURLConnection with a fixed length, because that is Java 8's
 * own and costs the least CPU a byte of what Java has.
 */
final class PartPut {
  private static final int MAX_ERROR_BYTES = 8 * 1024;
  private static final Pattern CODE = Pattern.compile("<Code>([^<]{1,100})</Code>");
  private static final Pattern MESSAGE = Pattern.compile("<Message>([^<]{1,300})</Message>");
  private static final Pattern QUERY = Pattern.compile("\\?\\S*");

  private final Settings settings;
  private final Set<HttpURLConnection> active =
      Collections.newSetFromMap(new ConcurrentHashMap<>());
  private volatile boolean stopped;

  PartPut(Settings settings) {
    this.settings = settings;
  }

  /** What came of a PUT. */
  static final class Answer {
    /** HTTP status, or -1 where none came. */
    final int status;
    final String etag;
    /** For people, without any URL. */
    final String text;
    private final String code;

    Answer(int status, String etag, String code, String text) {
      this.status = status;
      this.etag = etag;
      this.code = code;
      this.text = text;
    }

    boolean isStored() {
      return status >= 200 && status < 300;
    }

    boolean mayRepeat() {
      return status < 0 || status >= 500 || status == 408 || status == 429
          // What S3 calls a connection that stood still.
          || code.equals("RequestTimeout");
    }

    String advice() {
      if (code.equals("NoSuchUpload")) {
        return ". The upload is gone: the job or the attempt has ended";
      }
      if (status == 403) {
        return ". Compare the clocks of daemon and store, and the daemon's credentials";
      }
      return "";
    }
  }

  /** Disconnects what is under way, and every later PUT. */
  void stop() {
    stopped = true;
    for (HttpURLConnection connection : active) {
      connection.disconnect();
    }
  }

  Answer send(SignedPart part, PartBuffer buffer, long from, long count) throws IOException {
    requireNotStopped();
    HttpURLConnection connection = open(part);
    active.add(connection);
    try {
      requireNotStopped();
      connection.setRequestMethod("PUT");
      connection.setDoOutput(true);
      connection.setInstanceFollowRedirects(false);
      connection.setUseCaches(false);
      connection.setConnectTimeout(settings.uploadConnectTimeoutMs);
      connection.setReadTimeout(settings.uploadReadTimeoutMs);
      connection.setFixedLengthStreamingMode(count);
      for (Map.Entry<String, String> header : part.getHeadersMap().entrySet()) {
        connection.setRequestProperty(header.getKey(), header.getValue());
      }
      try (OutputStream out = connection.getOutputStream()) {
        buffer.writeTo(out, from, count);
      }
      return read(connection);
    } catch (IOException e) {
      connection.disconnect();
      requireNotStopped();
      return new Answer(-1, null, "", e.getClass().getSimpleName() + ": "
          + QUERY.matcher(String.valueOf(e.getMessage())).replaceAll(""));
    } finally {
      active.remove(connection);
    }
  }

  private static HttpURLConnection open(SignedPart part) throws IOException {
    String url = part.getUrl();
    if (!url.startsWith("http://") && !url.startsWith("https://")) {
      // Not the whole of it: it may hold a signature.
      throw new CommitbridgeException("UNSUPPORTED", "The daemon's store gives URLs of the scheme '"
          + url.replaceAll(":.*", "") + "', which parts can't be sent to: it needs a store that"
          + " presigns http or https URLs");
    }
    return (HttpURLConnection) new URL(url).openConnection();
  }

  private static Answer read(HttpURLConnection connection) throws IOException {
    int status = connection.getResponseCode();
    boolean stored = status >= 200 && status < 300;
    String body = "";
    try (InputStream in = stored ? connection.getInputStream() : connection.getErrorStream()) {
      if (in != null) {
        // Read to its end, or the connection isn't used again.
        body = drain(in);
      }
    }
    String code = find(CODE, body);
    String message = find(MESSAGE, body);
    return new Answer(status, connection.getHeaderField("ETag"), code, "the store answered " + status
        + (code.isEmpty() ? "" : " " + code) + (message.isEmpty() ? "" : " (" + message + ")"));
  }

  private static String drain(InputStream in) throws IOException {
    ByteArrayOutputStream kept = new ByteArrayOutputStream();
    byte[] chunk = new byte[1024];
    for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
      kept.write(chunk, 0, Math.min(count, MAX_ERROR_BYTES - kept.size()));
    }
    return new String(kept.toByteArray(), StandardCharsets.UTF_8);
  }

  private static String find(Pattern pattern, String body) {
    Matcher matcher = pattern.matcher(body);
    return matcher.find() ? matcher.group(1) : "";
  }

  private void requireNotStopped() throws IOException {
    if (stopped) {
      throw new CommitbridgeException(CommitbridgeException.UPLOAD_FAILED,
          "The upload was stopped: the file was given up or its task attempt has ended");
    }
  }
}
