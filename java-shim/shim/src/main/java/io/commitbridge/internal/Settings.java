package io.commitbridge.internal;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;

/**
 * All that the shim needs to reach daemon and store, read once from a configuration. Two equal
 * configurations give equal hashes: the hash is the authority of the work path, so that Hadoop's
 * FileSystem cache never serves a job with the settings of another.
 */
public final class Settings {
  final List<String> endpoints;
  final String tokenFile;
  final boolean tls;
  final String caFile;
  final String certFile;
  final String keyFile;
  final long connectTimeoutMs;
  final long rpcTimeoutMs;
  final long rpcRetryTimeoutMs;
  final long commitJobTimeoutMs;
  /** Bytes of a file that travels with commitTask, as far as the daemon takes such; 0 for none. */
  final long inlineLimitBytes;
  final int uploadParallelism;
  final long uploadRetryTimeoutMs;
  final int uploadConnectTimeoutMs;
  final int uploadReadTimeoutMs;

  /**
   * Reads them. Missing endpoints aren't refused here: constructors of committers read settings,
   * and an error belongs into setupJob.
   */
  public Settings(Configuration conf) {
    endpoints = Collections.unmodifiableList(
        new ArrayList<>(conf.getTrimmedStringCollection(ConfKeys.ENDPOINTS)));
    tokenFile = conf.getTrimmed(ConfKeys.AUTH_TOKEN_FILE, "");
    tls = conf.getBoolean(ConfKeys.TLS_ENABLED, false);
    caFile = conf.getTrimmed(ConfKeys.TLS_CA_FILE, "");
    certFile = conf.getTrimmed(ConfKeys.TLS_CERT_FILE, "");
    keyFile = conf.getTrimmed(ConfKeys.TLS_KEY_FILE, "");
    connectTimeoutMs = ms(conf, ConfKeys.CONNECT_TIMEOUT, ConfKeys.CONNECT_TIMEOUT_DEFAULT);
    rpcTimeoutMs = ms(conf, ConfKeys.RPC_TIMEOUT, ConfKeys.RPC_TIMEOUT_DEFAULT);
    rpcRetryTimeoutMs = ms(conf, ConfKeys.RPC_RETRY_TIMEOUT, ConfKeys.RPC_RETRY_TIMEOUT_DEFAULT);
    commitJobTimeoutMs =
        ms(conf, ConfKeys.COMMIT_JOB_TIMEOUT, ConfKeys.COMMIT_JOB_TIMEOUT_DEFAULT);
    inlineLimitBytes = conf.getLongBytes(ConfKeys.INLINE_LIMIT, ConfKeys.INLINE_LIMIT_DEFAULT);
    uploadParallelism = Math.max(1,
        conf.getInt(ConfKeys.UPLOAD_PARALLELISM, ConfKeys.UPLOAD_PARALLELISM_DEFAULT));
    uploadRetryTimeoutMs =
        ms(conf, ConfKeys.UPLOAD_RETRY_TIMEOUT, ConfKeys.UPLOAD_RETRY_TIMEOUT_DEFAULT);
    uploadConnectTimeoutMs = (int) Math.min(Integer.MAX_VALUE,
        ms(conf, ConfKeys.UPLOAD_CONNECT_TIMEOUT, ConfKeys.UPLOAD_CONNECT_TIMEOUT_DEFAULT));
    uploadReadTimeoutMs = (int) Math.min(Integer.MAX_VALUE,
        ms(conf, ConfKeys.UPLOAD_READ_TIMEOUT, ConfKeys.UPLOAD_READ_TIMEOUT_DEFAULT));
  }

  private static long ms(Configuration conf, String key, String defaultValue) {
    return conf.getTimeDuration(key, defaultValue, TimeUnit.MILLISECONDS);
  }

  /** Refuses settings that name no daemon. */
  void requireEndpoints() throws CommitbridgeException {
    if (endpoints.isEmpty()) {
      throw new CommitbridgeException(CommitbridgeException.CONFIGURATION,
          "The configuration has no " + ConfKeys.ENDPOINTS
              + ": set it to where the Commitbridge daemon listens, as host:port or"
              + " unix:///path (in Spark with the prefix spark.hadoop.)");
    }
    if (certFile.isEmpty() != keyFile.isEmpty()) {
      throw new CommitbridgeException(CommitbridgeException.CONFIGURATION,
          "Only one of " + ConfKeys.TLS_CERT_FILE + " and " + ConfKeys.TLS_KEY_FILE
              + " is set: mTLS needs both");
    }
  }

  /** What a channel depends on. */
  String connectionKey() {
    return String.join("\n", String.join(",", endpoints), tokenFile, Boolean.toString(tls), caFile,
        certFile, keyFile);
  }

  /** Hex digest of everything in here. */
  public String hash() {
    return shortHash(String.join("\n", connectionKey(), Long.toString(connectTimeoutMs),
        Long.toString(rpcTimeoutMs), Long.toString(rpcRetryTimeoutMs),
        Long.toString(commitJobTimeoutMs), Long.toString(inlineLimitBytes),
        Integer.toString(uploadParallelism),
        Long.toString(uploadRetryTimeoutMs), Integer.toString(uploadConnectTimeoutMs),
        Integer.toString(uploadReadTimeoutMs)));
  }

  /** The first 64 bits of a text's SHA-256, in hex. */
  static String shortHash(String text) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256")
          .digest(text.getBytes(StandardCharsets.UTF_8));
      StringBuilder hex = new StringBuilder(16);
      for (int i = 0; i < 8; i++) {
        hex.append(String.format("%02x", digest[i]));
      }
      return hex.toString();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java has SHA-256", e);
    }
  }
}
