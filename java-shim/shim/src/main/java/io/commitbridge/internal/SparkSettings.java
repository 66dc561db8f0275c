package io.commitbridge.internal;

import io.commitbridge.ConfKeys;
import java.util.function.UnaryOperator;

/**
 * What Spark's configuration makes of a DataFrame or SQL write, found without asking Spark. A write
 * that doesn't reach Commitbridge though the configuration names a daemon is half-configured: it
 * would go by rename, or by other committers that a cluster's defaults name, and nobody would see.
 */
public final class SparkSettings {
  static final String PROTOCOL = "spark.sql.sources.commitProtocolClass";
  static final String COMMITTER = "spark.sql.sources.outputCommitterClass";
  static final String PARQUET = "spark.sql.parquet.output.committer.class";
  static final String FACTORY = "spark.hadoop.mapreduce.outputcommitter.factory.";
  static final String ENDPOINTS = "spark.hadoop." + ConfKeys.ENDPOINTS;
  private static final String OURS = "io.commitbridge.";
  private static final String REMEDY = " Set " + PROTOCOL
      + "=io.commitbridge.spark.BridgeCommitProtocol, which does for every format; or "
      + "spark.hadoop." + ConfKeys.SPARK_CHECK + "=warn to let such writes go their own way";

  private final UnaryOperator<String> conf;

  /**
   * Reads nothing yet.
   *
   * @param conf gives a key's value, or an empty text
   */
  public SparkSettings(UnaryOperator<String> conf) {
    this.conf = conf;
  }

  /** Whether a write that is half-configured is refused. */
  public boolean isRefused() {
    return !conf.apply("spark.hadoop." + ConfKeys.SPARK_CHECK).trim().equalsIgnoreCase("warn");
  }

  /**
   * What is wrong with writes of a kind.
   *
   * @param isParquet Parquet's committer has a key of its own
   * @param scheme of the destination
   * @return a sentence that names the keys; null where nothing is
   */
  public String problem(boolean isParquet, String scheme) {
    if (conf.apply(ENDPOINTS).trim().isEmpty() || isOurs(PROTOCOL)) {
      // Without endpoints nobody asked for us; a binding that is set all the same says so itself.
      return null;
    }
    String kind = isParquet ? "Parquet" : "ORC, CSV, JSON and text";
    String start = "Writes of " + kind + " to " + scheme + ":// don't go through Commitbridge, though "
        + ENDPOINTS + " is set: ";
    if (conf.apply(PROTOCOL).endsWith("PathOutputCommitProtocol")) {
      return isFactoryOurs(scheme) ? null : start + PROTOCOL + " is " + conf.apply(PROTOCOL)
          + ", which asks neither " + COMMITTER + " nor " + PARQUET + " but "
          + factory(scheme) + "." + REMEDY;
    }
    if (isParquet) {
      return isOurs(PARQUET) ? null : start + PARQUET + " is " + shown(PARQUET) + "." + REMEDY;
    }
    boolean isReached = isOurs(COMMITTER)
        || conf.apply(COMMITTER).trim().isEmpty() && isFactoryOurs(scheme);
    return isReached ? null : start + COMMITTER + " is " + shown(COMMITTER) + "." + REMEDY;
  }

  /** Whether the key names a class of ours, or one that extends it. */
  private boolean isOurs(String key) {
    String name = conf.apply(key).trim();
    if (name.startsWith(OURS)) {
      return true;
    }
    if (name.isEmpty()) {
      return false;
    }
    try {
      ClassLoader context = Thread.currentThread().getContextClassLoader();
      Class<?> type = Class.forName(name, false,
          context != null ? context : SparkSettings.class.getClassLoader());
      while (type != null && !type.getName().startsWith(OURS)) {
        type = type.getSuperclass();
      }
      return type != null;
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }

  private boolean isFactoryOurs(String scheme) {
    // As Hadoop: the one for all paths goes first.
    return isOurs(factory(scheme));
  }

  private String factory(String scheme) {
    String all = FACTORY + "class";
    return conf.apply(all).trim().isEmpty() ? FACTORY + "scheme." + scheme : all;
  }

  private String shown(String key) {
    String value = conf.apply(key).trim();
    return value.isEmpty() ? "not set" : value;
  }
}
