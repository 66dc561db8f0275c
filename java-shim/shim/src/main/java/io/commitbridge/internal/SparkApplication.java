package io.commitbridge.internal;

import java.lang.reflect.Method;
import org.apache.hadoop.conf.Configuration;

/**
 * The id of the Spark application that this JVM belongs to. Spark doesn't copy it into Hadoop's
 * configuration, but driver and executors both have it in SparkEnv; it's read by reflection, since
 * the shim must not depend on a Spark or Scala version.
 */
final class SparkApplication {
  private static final String KEY = "spark.app.id";

  private SparkApplication() {}

  /** The id, or an empty text outside Spark. */
  static String id(Configuration conf) {
    String configured = conf.getTrimmed(KEY, "");
    return configured.isEmpty() ? fromSparkEnv(conf.getClassLoader()) : configured;
  }

  private static String fromSparkEnv(ClassLoader loader) {
    try {
      Class<?> type = Class.forName("org.apache.spark.SparkEnv", false, loader);
      Object env = type.getMethod("get").invoke(null);
      if (env == null) {
        return "";
      }
      Object sparkConf = type.getMethod("conf").invoke(env);
      Method get = sparkConf.getClass().getMethod("get", String.class, String.class);
      return String.valueOf(get.invoke(sparkConf, KEY, "")).trim();
    } catch (ReflectiveOperationException | LinkageError e) {
      return "";
    }
  }
}
